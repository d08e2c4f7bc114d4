-- Owed rows of one receiver that stand in another lane or kind than the catalogue says. A row that is
-- still to be expanded into targets stays so while its receiver has targets. Seeks past all that stand
-- where they should, in its lane and, but for their kind, in the side lanes of its app.
-- Parameters: receiver key, how many at most.
-- Columns: id.
-- Index: owed_delivery_by_receiver.
select id from (
    select d.id from owed_receiver as r cross join owed_delivery as d
    where r.key = $1 and d.receiver_key = r.key and d.status in ('pending', 'failed')
    and d.lane < r.app || case when r.paused_at > 0 then '/!+' else '/+' end
    union all
    select d.id from owed_receiver as r cross join owed_delivery as d
    where r.key = $1 and d.receiver_key = r.key and d.status in ('pending', 'failed')
    and d.lane >= r.app || case when r.paused_at > 0 then '/!,' else '/,' end and d.lane < r.stored_lane
    union all
    select d.id from owed_receiver as r cross join owed_delivery as d
    where r.key = $1 and d.receiver_key = r.key and d.status in ('pending', 'failed')
    and d.lane > r.stored_lane
    union all
    select d.id from owed_receiver as r cross join owed_delivery as d
    where r.key = $1 and d.receiver_key = r.key and d.status in ('pending', 'failed')
    and d.lane >= r.app || case when r.paused_at > 0 then '/!+' else '/+' end
    and d.lane < r.app || case when r.paused_at > 0 then '/!,' else '/,' end
    and d.kind <> r.kind and not (d.kind = 'expand' and r.targets = 'callback')
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
limit $2
