-- Receivers that an operator paused long ago, not with their lane, with what waits for them.
-- Parameters: for how long (microseconds), now, up to how many are counted.
-- Columns: receiver key, the reason, how many wait, since when it is paused.
-- Index: owed_delivery_by_receiver.
select r.`key`, r.paused_reason, least(r.number, $3), r.paused_at
from (
    select p.`key`, p.paused_reason, p.paused_at,
        (select count(*) from owed_delivery as d force index (owed_delivery_by_receiver)
            where d.owed_receiver_key = p.`key` and d.lane = p.stored_lane) as number
    from owed_receiver as p
    where p.paused_at > '1970-01-01 00:00:00' and p.paused_at < $2 - interval $1 microsecond
    and not exists (select 1 from owed_lane as l
        where l.lane = p.lane and l.paused_at = p.paused_at)
) as r
where r.number > 0
order by 1
