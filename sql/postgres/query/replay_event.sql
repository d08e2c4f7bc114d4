-- What events are to those who replay them.
-- Parameters: a JSON array of ids.
-- Columns: id, name, why nobody is owed it (empty: it is not suppressed).
-- Index: the primary key.
select id, name, suppressed_reason from owed_event where id = any (translate($1::text, '[]', '{}')::bigint[])
