-- The same as orphans for who only looks, beside work under way: what is locked here no claim would take.
-- Parameters: receiver key, now, only of events recorded at or before this moment, how many at most.
-- Columns: id.
-- Index: owed_delivery_by_receiver, owed_delivery_claimed.
select id from (
    (select d.id from owed_delivery as d force index (owed_delivery_by_receiver)
        where d.owed_receiver_key = $1
        and not exists (select 1 from owed_event as e where e.id = d.event_id and e.recorded_at > $3)
        limit $4)
    union all
    (select d.id from owed_delivery as d force index (owed_delivery_claimed)
        where d.claimed_lane is not null and d.receiver_key = $1 and d.lease_expires_at < $2
        and not exists (select 1 from owed_event as e where e.id = d.event_id and e.recorded_at > $3)
        limit $4)
) as orphans
limit $4
