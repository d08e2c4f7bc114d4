-- The next events by id of those that go as soon as all their deliveries have succeeded, or have ended.
-- Parameters: ids above this, how many, 'succeeded' or 'settled'.
-- Columns: id, 1, how many rows it is where it can go (0: it cannot), 0.
-- Index: owed_event_own_window, unique (event_id, receiver_key, target_digest).
select e.id, 1 as is_old,
    case when exists (
            select 1 from owed_delivery as d force index (owed_delivery_once)
            where d.event_id = e.id and d.status <> 'succeeded'
            and ($3 = 'succeeded' or d.status in ('pending', 'claimed', 'failed'))) then 0
        else 1 + (select count(*) from owed_delivery as d force index (owed_delivery_once) where d.event_id = e.id) end as size, 0 as goes_anyway
from owed_event as e force index (owed_event_own_window)
where e.delete_when = $3 and e.retention_seconds is null and e.id > $1
order by e.id limit $2
