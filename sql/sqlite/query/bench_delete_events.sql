-- Deletes the oldest events of owed bench for which nothing is owed any more: one that was fired since its
-- deliveries were looked for stays.
-- Parameters: how many, below which id.
-- Index: owed_event_by_name, unique (event_id, receiver_key, target_digest).
delete from owed_event where id in (
    select e.id from owed_event as e where e.name = 'owed.bench.Event' and e.id < $2
        and not exists (select 1 from owed_delivery as d where d.event_id = e.id)
    order by e.id limit $1)
