-- Picked rows with their events, in the order of the ids.
-- Parameters: a JSON array of ids.
-- Columns: id, status, claimed_at, lease_expires_at, losses, event_id, receiver_key, target, lane,
-- attempts, max_attempts, available_at, due_at; of the event uid (null: it is gone), name, version,
-- payload, occurred_at, recorded_at, actor_key, actor_label, scope, correlation_id, traceparent.
-- Index: the primary keys.
select id, status, claimed_at, lease_expires_at, losses, event_id, receiver_key,
    target, lane, attempts, max_attempts, available_at, due_at,
    uid, name, version, payload, occurred_at, recorded_at, actor_key, actor_label,
    scope, correlation_id, traceparent
from owed_fetch(translate($1::text, '[]', '{}')::bigint[])
