-- A page of dead or orphaned deliveries, newest first.
-- Parameters: ids below this, how many; each empty for any: receiver_key, status, lane, event name,
-- correlation_id; the status is not empty.
-- Columns: id, event_id, event_name, receiver_key, target, lane, kind, status, attempts, max_attempts,
-- losses, available_at, due_at, claimed_by, claimed_at, lease_expires_at, last_error, result,
-- completed_at, succeeded_at.
-- Index: owed_delivery_ended_badly_ids.
select d.id, d.event_id, coalesce(e.name, ''), d.receiver_key, d.target, d.lane, d.kind, d.status,
    d.attempts, d.max_attempts, max(d.losses, 0), d.available_at, d.due_at, d.claimed_by, d.claimed_at,
    d.lease_expires_at, d.last_error, d.result, d.completed_at, d.succeeded_at
from owed_delivery as d indexed by owed_delivery_ended_badly_ids
left join owed_event as e on e.id = d.event_id
where d.status = $4 and d.status in ('dead', 'orphaned') and d.id < $1
and ($3 = '' or d.receiver_key = $3) and ($5 = '' or d.lane = $5)
and ($6 = '' or e.name = $6) and ($7 = '' or e.correlation_id = $7)
order by d.id desc limit $2
