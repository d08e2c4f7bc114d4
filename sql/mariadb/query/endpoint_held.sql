-- What was put off while its endpoint was paused, of endpoints that were resumed or disabled since: pending
-- although somebody held it once, and due later.
-- Parameters: now, since when, how many at most.
-- Columns: id.
-- Index: owed_delivery_by_receiver, where an endpoint was resumed or disabled at all.
select d.id from owed_delivery as d force index (owed_delivery_by_receiver)
where d.owed_receiver_key = 'owed.webhooks' and d.status = 'pending'
and d.available_at > $1 and d.claimed_at > '1970-01-01 00:00:00'
and d.target in (select e.id from owed_endpoint as e
    where e.resumed_at >= $2 and e.paused_at = '1970-01-01 00:00:00' or e.disabled_at >= $2)
limit $3
