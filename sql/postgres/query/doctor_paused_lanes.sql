-- Lanes that an operator paused long ago, with what waits in them.
-- Parameters: for how long (microseconds), now, up to how many are counted.
-- Columns: lane, the reason, how many wait, since when it is paused.
-- Index: owed_delivery_owed.
select p.lane, p.reason, w.number, p.paused_at
from owed_lane as p
cross join lateral (
    select count(*) as number from (
        select from owed_delivery as d
        where d.lane >= p.lane || '!' and d.lane < p.lane || '"' and d.status in ('pending', 'failed')
        limit $3::bigint
    ) as rows
) as w
where p.paused_at > timestamptz 'epoch' and p.paused_at < $2::timestamptz - $1::bigint * interval '1 microsecond'
and w.number > 0
order by 1
