-- Ends deliveries that succeeded by deleting them with their events, where these go when they succeeded and nothing
-- else was owed for them.
-- Parameters: a JSON array of arrays: id, event_id, and claimed_at and succeeded_at in microseconds; claimed_by, of
-- all; how many microseconds the last success that is kept may lag behind.
-- Columns: of each that is gone its place in the array, from 1.
-- Index: the primary keys, unique (event_id, receiver_key, target_digest).
call owed_consume($1, $2, $3)
