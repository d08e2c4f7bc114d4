-- Ends deliveries that succeeded by deleting them with their events, where these go when they succeeded.
-- Parameters: a JSON array of objects: id, event_id, claimed_by, claimed_at and succeeded_at, times in
-- microseconds since 1970; how many microseconds the last success that is kept may lag behind.
-- Columns: of each that is gone its place in the array, from 1.
-- Index: the primary keys, unique (event_id, receiver_key, target_digest).
select owed_consume($1::text::json, $2::bigint)
