-- Forgets what was tried for these deliveries.
-- Parameters: a JSON array of ids of deliveries.
-- Index: owed_attempt_by_delivery.
delete t
from json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_attempt as t force index (owed_attempt_by_delivery) on t.delivery_id = picked.id
