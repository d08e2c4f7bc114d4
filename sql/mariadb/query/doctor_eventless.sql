-- What is owed of events that are no more. Of so many rows, whichever they are.
-- Parameters: how many rows are looked at.
-- Columns: receiver key, the ids of at most 20 of them, how many, 0.
-- Index: owed_delivery_by_receiver, the primary key of events.
select receiver_key, group_concat(if(place <= 20, id, null) order by id separator ' '), count(*), 0
from (
    select d.receiver_key, d.id, row_number() over (partition by d.receiver_key order by d.id) as place
    from (
        select id, event_id, receiver_key from owed_delivery force index (owed_delivery_by_receiver)
        where owed_receiver_key is not null limit $1
    ) as d
    where not exists (select 1 from owed_event as e where e.id = d.event_id)
) as lost
group by receiver_key
order by receiver_key
