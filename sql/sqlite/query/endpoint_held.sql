-- What was put off while its endpoint was paused, of endpoints that were resumed or disabled since: pending
-- although somebody held it once, and due later.
-- Parameters: now, since when, how many at most.
-- Columns: id.
-- Index: owed_delivery_by_receiver, where an endpoint was resumed or disabled at all.
select d.id from owed_delivery as d indexed by owed_delivery_by_receiver
where d.receiver_key = 'owed.webhooks' and d.status in ('pending', 'failed') and d.status = 'pending'
and d.available_at > $1 and d.claimed_at > 0
and d.target in (select e.id from owed_endpoint as e
    where e.resumed_at >= $2 and e.paused_at = 0 or e.disabled_at >= $2)
limit $3
