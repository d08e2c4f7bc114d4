-- Deletes deliveries of owed bench, those of its oldest events.
-- Parameters: of how many events, below which id.
-- Index: owed_event_by_name, unique (event_id, receiver_key, target_digest).
delete from owed_delivery where event_id in (
    select id from owed_event where name = 'owed.bench.Event' and id < $2
    order by id limit $1)
