-- Notes that an operator begins something.
-- Parameters: when, who, what is done, to what.
-- Columns: the new id.
-- Index: none.
insert into owed_audit (began_at, who, action, what)
values ($1::timestamptz, $2::text, $3::text, $4::text)
returning id
