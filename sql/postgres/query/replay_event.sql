-- What an event is to those who replay it.
-- Parameters: id.
-- Columns: name, why nobody is owed it (empty: it is not suppressed).
-- Index: the primary key.
select name, suppressed_reason from owed_event where id = $1::bigint
