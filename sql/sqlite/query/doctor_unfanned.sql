-- The latest events that a receiver was to have and is not owed: nobody is to write or delete deliveries by hand.
-- Not those of its last minute, nor those that were fired before the receiver was published as it is.
-- Parameters: how many events are looked at, now.
-- Columns: receiver key, the ids of at most 20 of them, how many, when the first was recorded.
-- Index: the primary key of events, the unique key of deliveries.
select key, group_concat(case when place <= 20 then id end, ' '), count(*), min(recorded_at)
from (
    select r.key, e.id, e.recorded_at, row_number() over (partition by r.key order by e.id) as place
    from (
        select id, name, recorded_at, suppressed_reason from owed_event order by id desc limit $1
    ) as e
    join owed_receiver as r on r.event_name in (e.name, '*')
    where e.suppressed_reason = '' and e.recorded_at < $2 - 60000000
    and r.mode = 'durable' and r.targets = 'none' and r.removed_at = 0
    and r.published_at < e.recorded_at
    and not exists (select 1 from owed_delivery as d where d.event_id = e.id and d.receiver_key = r.key)
)
group by key
order by key
