-- Is a connection still there? Until it is gone, what it was doing may yet be committed.
-- Parameters: its number.
-- Columns: 1 or 0.
-- Index: none.
select count(*) from information_schema.processlist where id = cast($1 as signed)
