-- Deletes deliveries, of events that were found due in the same transaction.
-- Parameters: a JSON array of ids.
-- Index: the primary key.
delete t
from json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_delivery as t on t.id = picked.id
