-- The latest events that a receiver was to have and is not owed: nobody is to write or delete deliveries by hand.
-- Not those of its last minute, nor those that were fired before the receiver was published as it is.
-- Parameters: how many events are looked at, now.
-- Columns: receiver key, the ids of at most 20 of them, how many, when the first was recorded.
-- Index: the primary key of events, the unique key of deliveries.
select key, string_agg(id::text, ' ' order by id) filter (where place <= 20), count(*), min(recorded_at)
from (
    select r.key, e.id, e.recorded_at, row_number() over (partition by r.key order by e.id) as place
    from (
        select id, name, recorded_at, suppressed_reason from owed_event order by id desc limit $1::bigint
    ) as e
    join owed_receiver as r on r.event_name in (e.name, '*')
    where e.suppressed_reason = '' and e.recorded_at < $2::timestamptz - interval '1 minute'
    and r.mode = 'durable' and r.targets = 'none' and r.removed_at = timestamptz 'epoch'
    and r.published_at < e.recorded_at
    and not exists (select from owed_delivery as d where d.event_id = e.id and d.receiver_key = r.key)
) as missing
group by key
order by key
