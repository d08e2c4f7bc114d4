-- Events that should have gone long ago, among the first thousand.
-- Parameters: how old they are (microseconds), now.
-- Columns: nothing, nothing, how many, when the oldest was recorded.
-- Index: the primary key of events, the unique key of deliveries.
select '', '', count(*), min(e.recorded_at)
from (
    select id, recorded_at, retention_seconds from owed_event order by id limit 1000
) as e
where e.retention_seconds is null and e.recorded_at < $2 - interval $1 microsecond
and not exists (select 1 from owed_delivery as d force index (owed_delivery_once)
    where d.event_id = e.id and d.status in ('pending', 'failed', 'claimed'))
having count(*) > 0
