-- One delivery.
-- Parameters: id.
-- Columns: id, event_id, event_name, receiver_key, target, lane, kind, status, attempts, max_attempts,
-- losses, available_at, due_at, claimed_by, claimed_at, lease_expires_at, last_error, result,
-- completed_at, succeeded_at.
-- Index: the primary key.
select d.id, d.event_id, coalesce(e.name, ''), d.receiver_key, d.target, d.lane, d.kind, d.status,
    d.attempts, d.max_attempts, greatest(d.losses, 0), d.available_at, d.due_at, d.claimed_by,
    d.claimed_at, d.lease_expires_at, d.last_error, d.result, d.completed_at, d.succeeded_at
from owed_delivery as d
left join owed_event as e on e.id = d.event_id
where d.id = $1::bigint
