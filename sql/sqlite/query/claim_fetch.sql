-- Picked rows with their events, in the order of the ids: that in which json_each gives them, and cross join
-- keeps it outermost. An order by would sort, with all payloads in memory at once.
-- Parameters: a JSON array of ids.
-- Columns: id, status, claimed_at, lease_expires_at, losses, event_id, receiver_key, target, lane,
-- attempts, max_attempts, available_at, due_at; of the event uid (null: it is gone), name, version,
-- payload, occurred_at, recorded_at, actor_key, actor_label, scope, correlation_id, traceparent.
-- Index: the primary keys.
select d.id, d.status, d.claimed_at, d.lease_expires_at, d.losses, d.event_id, d.receiver_key,
    d.target, d.lane, d.attempts, d.max_attempts, d.available_at, d.due_at,
    e.uid, e.name, e.version, e.payload, e.occurred_at, e.recorded_at, e.actor_key, e.actor_label,
    e.scope, e.correlation_id, e.traceparent
from json_each($1) as picked
cross join owed_delivery as d on d.id = picked.value
left join owed_event as e on e.id = d.event_id
