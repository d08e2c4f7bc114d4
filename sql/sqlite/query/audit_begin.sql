-- Notes that an operator begins something.
-- Parameters: when, who, what is done, to what.
-- Columns: the new id.
-- Index: none.
insert into owed_audit (began_at, who, action, what)
values ($1, $2, $3, $4)
returning id
