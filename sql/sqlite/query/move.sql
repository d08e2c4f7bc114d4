-- Lets owed rows of one receiver follow it to the lane and kind that the catalogue says. A row that is
-- still to be expanded into targets stays so while its receiver has targets.
-- Parameters: receiver key, how many at most.
-- Index: owed_delivery_by_receiver.
update owed_delivery
set (lane, kind) = (
    select r.stored_lane, case when owed_delivery.kind = 'expand' and r.targets = 'callback'
        then 'expand' else r.kind end
    from owed_receiver as r where r.key = owed_delivery.receiver_key)
where id in (
    select id from (
        select d.id from owed_receiver as r cross join owed_delivery as d
        where r.key = $1 and d.receiver_key = r.key and d.status in ('pending', 'failed')
        and d.lane < r.stored_lane
        union all
        select d.id from owed_receiver as r cross join owed_delivery as d
        where r.key = $1 and d.receiver_key = r.key and d.status in ('pending', 'failed')
        and d.lane > r.stored_lane
        union all
        select d.id from owed_receiver as r cross join owed_delivery as d
        where r.key = $1 and d.receiver_key = r.key and d.status in ('pending', 'failed')
        and d.lane = r.stored_lane and d.kind < r.kind
        and not (d.kind = 'expand' and r.targets = 'callback')
        union all
        select d.id from owed_receiver as r cross join owed_delivery as d
        where r.key = $1 and d.receiver_key = r.key and d.status in ('pending', 'failed')
        and d.lane = r.stored_lane and d.kind > r.kind
    )
    limit $2)
