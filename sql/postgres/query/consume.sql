-- Ends deliveries that succeeded by deleting them with their events, where these go when they succeeded.
-- Parameters: arrays of id and event_id; claimed_by, of all; arrays of claimed_at and succeeded_at; how many
-- microseconds the last success that is kept may lag behind.
-- Columns: of each that is gone its place in the arrays, from 1.
-- Index: the primary keys, unique (event_id, receiver_key, target_digest).
select owed_consume($1::bigint[], $2::bigint[], $3::text, $4::timestamptz[], $5::timestamptz[], $6::bigint)
