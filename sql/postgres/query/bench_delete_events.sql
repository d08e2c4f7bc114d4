-- Deletes the oldest events of owed bench.
-- Parameters: how many, below which id.
-- Index: owed_event_by_name.
delete from owed_event where id in (
    select id from owed_event where name = 'owed.bench.Event' and id < $2::bigint
    order by id limit $1::bigint)
