-- Receivers that an operator paused long ago, not with their lane, with what waits for them.
-- Parameters: for how long (microseconds), now, up to how many are counted.
-- Columns: receiver key, the reason, how many wait, since when it is paused.
-- Index: owed_delivery_by_receiver.
select r.key, r.paused_reason, r.number, r.paused_at
from (
    select *, (select count(*) from (
        select 1 from owed_delivery as d
        where d.receiver_key = owed_receiver.key and d.lane = owed_receiver.stored_lane
        and d.status in ('pending', 'failed')
        limit $3
    )) as number
    from owed_receiver
) as r
where r.paused_at > 0 and r.paused_at < $2 - $1 and r.number > 0
and not exists (select 1 from owed_lane as l where l.lane = r.lane and l.paused_at = r.paused_at)
order by 1
