-- The next events by id, of those that keep to the ordinary window: what came before a moment and has
-- ended can go.
-- Parameters: ids above this, how many, the moment.
-- Columns: id, whether it came before, how many rows it is where it can go (0: it cannot), whether it can
-- go whatever its age.
-- Index: the primary key, unique (event_id, receiver_key, target_digest).
select e.id, e.recorded_at < $3 as is_old,
    case when e.recorded_at >= $3 then 0
        when exists (
            select 1 from owed_delivery as d force index (owed_delivery_once)
            where d.event_id = e.id and d.status in ('pending', 'claimed', 'failed')) then 0
        else 1 + (select count(*) from owed_delivery as d force index (owed_delivery_once) where d.event_id = e.id) end as size,
    case when e.delete_when = 'settled' then 1
        when e.delete_when = 'succeeded' and not exists (
            select 1 from owed_delivery as d force index (owed_delivery_once) where d.event_id = e.id and d.status <> 'succeeded') then 1
        else 0 end as goes_anyway
from owed_event as e force index (primary)
where e.retention_seconds is null and e.id > $1
order by e.id limit $2
