-- Deletes events whose deliveries are gone.
-- Parameters: a JSON array of ids.
-- Index: the primary key.
delete from owed_event where id in (select value from json_each($1))
