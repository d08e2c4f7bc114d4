-- The same as move for rows that somebody holds or gave back, of every receiver: where they go when
-- they come back. The holder's fence does not name the lane.
-- Parameters: how many at most.
-- Index: owed_delivery_claimed; it holds only what is claimed now.
update owed_delivery
set (lane, kind) = (
    select r.stored_lane, case when owed_delivery.kind = 'expand' and r.targets = 'callback'
        then 'expand' else r.kind end
    from owed_receiver as r where r.key = owed_delivery.receiver_key)
where id in (
    select d.id from owed_delivery as d indexed by owed_delivery_claimed
    join owed_receiver as r on r.key = d.receiver_key
    where d.status = 'claimed'
    and (d.lane <> r.stored_lane
        or (d.kind <> r.kind and not (d.kind = 'expand' and r.targets = 'callback')))
    limit $1)
