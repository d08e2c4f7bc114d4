-- The next events by id of those that go as soon as all their deliveries have succeeded, or have ended.
-- Parameters: ids above this, how many, 'succeeded' or 'settled'.
-- Columns: id, 1, how many rows it is where it can go (0: it cannot), 0.
-- Index: owed_event_consumed, unique (event_id, receiver_key, target_digest).
select id, is_old, size, goes_anyway from owed_prune_consumed($1::bigint, $2::bigint, $3::text)
