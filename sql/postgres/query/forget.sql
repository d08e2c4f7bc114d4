-- Deletes events that can go, with all that was owed for them.
-- Parameters: a JSON array of ids; 'succeeded': those that go when they have succeeded, and did; else those of
-- which all that was owed has ended; how many deliveries at most; by how many microseconds the last success that is
-- kept may lag behind.
-- Columns: how many events are gone, how many rows with all that was owed.
-- Index: the primary keys, unique (event_id, receiver_key, target_digest), owed_attempt_by_delivery.
select events, rows
from owed_forget(translate($1::text, '[]', '{}')::bigint[], $2::text, $3::bigint, $4::bigint)
