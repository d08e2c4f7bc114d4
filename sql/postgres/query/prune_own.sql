-- The next events by id, of those that have a certain window of their own: what came before a moment and has
-- ended can go.
-- Parameters: ids above this, how many, the moment, the window in
-- seconds.
-- Columns: id, whether it came before, how many rows it is where it can go (0: it cannot), 0.
-- Index: owed_event_own_window, unique (event_id, receiver_key, target_digest).
select id, is_old, size, goes_anyway from owed_prune_own($1::bigint, $2::bigint, $3::timestamptz, $4::bigint)
