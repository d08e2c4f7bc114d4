-- The deliveries of these events.
-- Parameters: a JSON array of ids of events, how many at most.
-- Columns: id.
-- Index: unique (event_id, receiver_key, target_digest).
select id from owed_delivery where event_id = any (translate($1::text, '[]', '{}')::bigint[]) limit $2::bigint
