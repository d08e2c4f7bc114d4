-- Lanes that an operator paused long ago, with what waits in them.
-- Parameters: for how long (microseconds), now, up to how many are counted.
-- Columns: lane, the reason, how many wait, since when it is paused.
-- Index: owed_delivery_owed.
select p.lane, p.reason, least(p.number, $3), p.paused_at
from (
    select l.lane, l.reason, l.paused_at,
        (select count(*) from owed_delivery as d force index (owed_delivery_owed)
            where d.owed_lane >= concat(l.lane, '!') and d.owed_lane < concat(l.lane, '"')) as number
    from owed_lane as l
    where l.paused_at > '1970-01-01 00:00:00' and l.paused_at < $2 - interval $1 microsecond
) as p
where p.number > 0
order by 1
