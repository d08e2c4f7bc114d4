-- The next events by id of those that go as soon as all their deliveries have succeeded, or have ended.
-- Parameters: ids above this, how many, 'succeeded' or 'settled'.
-- Columns: id, 1, how many rows it is where it can go (0: it cannot), 0.
-- "offset 0": each is looked up by itself, however many the planner expects.
-- Index: owed_event_consumed, unique (event_id, receiver_key, target_digest).
select e.id, 1 as is_old,
    case when exists (
            select from owed_delivery as d
            where d.event_id = e.id and d.status || '' <> 'succeeded'
            and ($3::text = 'succeeded' or d.status || '' in ('pending', 'claimed', 'failed')) offset 0) then 0
        else 1 + (select count(*) from owed_delivery as d where d.event_id = e.id) end as size, 0 as goes_anyway
from owed_event as e
where e.delete_when = $3::text and e.delete_when <> '' and e.id > $1::bigint
order by e.id limit $2::bigint
