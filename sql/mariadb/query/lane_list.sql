-- The lanes that the catalogue knows, that an operator paused, or that a replay has filled beside them ("app/+name"),
-- with what waits in each. What is owed to a paused receiver stands in a lane of its own, which begins with this one
-- and "!", or is "app/!+name".
-- Columns: lane, receivers, of these paused, deliveries that wait, of these of paused receivers, paused_at,
-- paused_until, paused_by, reason.
-- Index: owed_delivery_owed; it is counted through.
select l.lane,
    (select count(*) from owed_receiver as r
        where r.lane = l.lane and r.mode = 'durable' and r.removed_at = '1970-01-01 00:00:00'),
    (select count(*) from owed_receiver as r
        where r.lane = l.lane and r.mode = 'durable' and r.removed_at = '1970-01-01 00:00:00' and r.paused_at > '1970-01-01 00:00:00'),
    (select count(*) from owed_delivery as d where d.owed_lane = l.lane),
    (select count(*) from owed_delivery as d
        where d.owed_lane >= concat(l.lane, '!') and d.owed_lane < concat(l.lane, '"'))
    + (select count(*) from owed_delivery as d
        where locate('/+', l.lane) > 0 and d.owed_lane = replace(l.lane, '/+', '/!+')),
    coalesce(p.paused_at, cast('1970-01-01 00:00:00' as datetime(6))), coalesce(p.paused_until, cast('1970-01-01 00:00:00' as datetime(6))), coalesce(p.paused_by, ''),
    coalesce(p.reason, '')
from (
    select lane from owed_receiver where mode = 'durable' and removed_at = '1970-01-01 00:00:00'
    union select lane from owed_lane
    union select replace(owed_lane, '/!+', '/+') from owed_delivery force index (owed_delivery_owed)
    where owed_lane is not null and locate('/+', replace(owed_lane, '/!+', '/+')) > 0
) as l
left join owed_lane as p on p.lane = l.lane
order by l.lane
