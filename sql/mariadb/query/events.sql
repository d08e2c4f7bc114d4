-- A page of events, newest first.
-- Parameters: ids below this, how many.
-- Columns: id, uid, name, version, payload (empty in lists), dedupe_key, occurred_at, recorded_at,
-- actor_key, actor_label, scope, correlation_id, causation_id, traceparent, suppressed_reason,
-- deliveries still owed, deliveries.
-- Index: the primary key, unique (event_id, ...).
select e.id, e.uid, e.name, e.version, '', e.dedupe_key, e.occurred_at, e.recorded_at,
    e.actor_key, e.actor_label, e.scope, e.correlation_id, e.causation_id, e.traceparent, e.suppressed_reason,
    (select count(*) from owed_delivery as d force index (owed_delivery_once)
        where d.event_id = e.id and d.status in ('pending', 'claimed', 'failed')),
    (select count(*) from owed_delivery as d force index (owed_delivery_once) where d.event_id = e.id)
from owed_event as e
where e.id < $1
order by e.id desc limit $2
