-- The deliveries of these events.
-- Parameters: a JSON array of ids of events, how many at most.
-- Columns: id.
-- Index: unique (event_id, receiver_key, target_digest).
select d.id
from json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_delivery as d force index (owed_delivery_once) on d.event_id = picked.id
limit $2
