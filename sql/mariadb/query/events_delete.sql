-- Deletes events whose deliveries are gone.
-- Parameters: a JSON array of ids.
-- Index: the primary key.
delete t
from json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_event as t on t.id = picked.id
