-- What events are to those who replay them.
-- Parameters: a JSON array of ids.
-- Columns: id, name, why nobody is owed it (empty: it is not suppressed).
-- Index: the primary key.
select e.id, e.name, e.suppressed_reason
from json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_event as e on e.id = picked.id
