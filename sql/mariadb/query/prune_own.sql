-- The next events by id, of those that have a certain window of their own: what came before a moment and has
-- ended can go. One that says besides that it goes when it is done, as only plain SQL can write it, keeps to its window;
-- those come by an arm of their own, so that the others are in order already.
-- Parameters: ids above this, how many, the moment, the window in
-- seconds.
-- Columns: id, whether it came before, how many rows it is where it can go (0: it cannot), 0.
-- Index: owed_event_own_window, unique (event_id, receiver_key, target_digest).
select e.id, e.recorded_at < $3 as is_old,
    case when e.recorded_at >= $3 then 0
        when exists (
            select 1 from owed_delivery as d force index (owed_delivery_once)
            where d.event_id = e.id and d.status in ('pending', 'claimed', 'failed')) then 0
        else 1 + (select count(*) from owed_delivery as d force index (owed_delivery_once) where d.event_id = e.id) end as size, 0 as goes_anyway
from (
    (select id from owed_event force index (owed_event_own_window)
        where retention_seconds = $4 and delete_when = '' and id > $1
        order by id limit $2)
    union all
    (select id from owed_event force index (owed_event_own_window)
        where retention_seconds = $4 and delete_when > '' and id > $1
        order by id limit $2)
    order by id limit $2
) as next
straight_join owed_event as e on e.id = next.id
order by e.id
