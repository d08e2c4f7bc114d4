-- Receivers that an operator paused long ago, not with their lane, with what waits for them.
-- Parameters: for how long (microseconds), now, up to how many are counted.
-- Columns: receiver key, the reason, how many wait, since when it is paused.
-- Index: owed_delivery_by_receiver.
select r.key, r.paused_reason, w.number, r.paused_at
from owed_receiver as r
cross join lateral (
    select count(*) as number from (
        select from owed_delivery as d
        where d.receiver_key = r.key and d.lane = r.stored_lane and d.status in ('pending', 'failed')
        limit $3::bigint
    ) as rows
) as w
where r.paused_at > timestamptz 'epoch' and r.paused_at < $2::timestamptz - $1::bigint * interval '1 microsecond'
and w.number > 0
and not exists (select from owed_lane as l where l.lane = r.lane and l.paused_at = r.paused_at)
order by 1
