-- The next events by id, of those that have a certain window of their own: what came before a moment and has
-- ended can go.
-- Parameters: ids above this, how many, the moment, the window in
-- seconds.
-- Columns: id, whether it came before, how many rows it is where it can go (0: it cannot), 0.
-- Index: owed_event_own_window, unique (event_id, receiver_key, target_digest).
select e.id, e.recorded_at < $3 as is_old,
    case when e.recorded_at >= $3 then 0
        when exists (
            select 1 from owed_delivery as d
            where d.event_id = e.id and d.status in ('pending', 'claimed', 'failed')) then 0
        else 1 + (select count(*) from owed_delivery as d where d.event_id = e.id) end as size, 0 as goes_anyway
from owed_event as e force index (owed_event_own_window)
where e.retention_seconds = $4 and e.delete_when = '' and e.id > $1
order by e.id limit $2
