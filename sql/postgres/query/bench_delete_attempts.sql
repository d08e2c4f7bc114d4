-- Deletes what is noted of attempts at deliveries of owed bench, of its oldest events.
-- Parameters: of how many events, below which id.
-- Index: owed_event_by_name, unique (event_id, receiver_key, target_digest),
-- owed_attempt_by_delivery.
delete from owed_attempt where delivery_id in (
    select id from owed_delivery where event_id in (
        select id from owed_event where name = 'owed.bench.Event' and id < $2::bigint
        order by id limit $1::bigint))
