-- The lanes that the catalogue knows, that an operator paused, or that a replay has filled beside them ("app/+name"),
-- with what waits in each. What is owed to a paused receiver stands in a lane of its own, which begins with this one
-- and "!", or is "app/!+name".
-- Columns: lane, receivers, of these paused, deliveries that wait, of these of paused receivers, paused_at,
-- paused_until, paused_by, reason.
-- Index: owed_delivery_owed; it is counted through.
select l.lane,
    (select count(*) from owed_receiver as r
        where r.lane = l.lane and r.mode = 'durable' and r.removed_at = timestamptz 'epoch'),
    (select count(*) from owed_receiver as r
        where r.lane = l.lane and r.mode = 'durable' and r.removed_at = timestamptz 'epoch' and r.paused_at > timestamptz 'epoch'),
    (select count(*) from owed_delivery as d where d.lane = l.lane and d.status in ('pending', 'failed')),
    (select count(*) from owed_delivery as d
        where d.lane >= l.lane || '!' and d.lane < l.lane || '"' and d.status in ('pending', 'failed'))
    + (select count(*) from owed_delivery as d
        where strpos(l.lane, '/+') > 0 and d.lane = replace(l.lane, '/+', '/!+') and d.status in ('pending', 'failed')),
    coalesce(p.paused_at, timestamptz 'epoch'), coalesce(p.paused_until, timestamptz 'epoch'), coalesce(p.paused_by, ''),
    coalesce(p.reason, '')
from (
    select lane from owed_receiver where mode = 'durable' and removed_at = timestamptz 'epoch'
    union select lane from owed_lane
    union select replace(lane, '/!+', '/+') from owed_delivery
    where status in ('pending', 'failed') and strpos(replace(lane, '/!+', '/+'), '/+') > 0
) as l
left join owed_lane as p on p.lane = l.lane
order by l.lane
