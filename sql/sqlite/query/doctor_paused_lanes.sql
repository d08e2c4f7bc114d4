-- Lanes that an operator paused long ago, with what waits in them.
-- Parameters: for how long (microseconds), now, up to how many are counted.
-- Columns: lane, the reason, how many wait, since when it is paused.
-- Index: owed_delivery_owed.
select p.lane, p.reason, p.number, p.paused_at
from (
    select *, (select count(*) from (
        select 1 from owed_delivery as d
        where d.lane >= owed_lane.lane || '!' and d.lane < owed_lane.lane || '"'
        and d.status in ('pending', 'failed')
        limit $3
    )) as number
    from owed_lane
) as p
where p.paused_at > 0 and p.paused_at < $2 - $1 and p.number > 0
order by 1
