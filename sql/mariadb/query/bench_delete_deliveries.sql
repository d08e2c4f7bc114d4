-- Deletes deliveries of owed bench, those of its oldest events.
-- Parameters: of how many events, below which id.
-- Index: owed_event_by_name, unique (event_id, receiver_key, target_digest).
delete d from owed_delivery as d
join (
    select id from owed_event where name = 'owed.bench.Event' and id < $2
    order by id limit $1
) as e on e.id = d.event_id
