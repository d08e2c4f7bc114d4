-- The latest events that a receiver was to have and is not owed: nobody is to write or delete deliveries by hand.
-- Not those of its last minute, nor those that were fired before the receiver was published as it is.
-- Parameters: how many events are looked at, now.
-- Columns: receiver key, the ids of at most 20 of them, how many, when the first was recorded.
-- Index: the primary key of events, the unique key of deliveries.
select missing.`key`, group_concat(if(missing.place <= 20, missing.id, null) order by missing.id separator ' '),
    count(*), min(missing.recorded_at)
from (
    select r.`key`, e.id, e.recorded_at, row_number() over (partition by r.`key` order by e.id) as place
    from (
        select id, name, recorded_at, suppressed_reason from owed_event order by id desc limit $1
    ) as e
    join owed_receiver as r on r.event_name = e.name or r.event_name = '*'
    where e.suppressed_reason = '' and e.recorded_at < $2 - interval 1 minute
    and r.mode = 'durable' and r.targets = 'none' and r.removed_at = '1970-01-01 00:00:00'
    and r.published_at < e.recorded_at
    and not exists (select 1 from owed_delivery as d force index (owed_delivery_once) where d.event_id = e.id and d.receiver_key = r.`key`)
) as missing
group by missing.`key`
order by missing.`key`
