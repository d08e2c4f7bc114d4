-- Is one of the events that were just written not owed to a receiver that the firing process declares?
-- They are new: what is owed has no targets yet. Events of others between them do no harm.
-- Parameters: the first event's id, the last one's; a JSON array of pairs: event name, receiver key.
-- Columns: 1, where there is one.
-- Index: the primary key of owed_event, unique (event_id, receiver_key, target_digest).
select 1
from (select value ->> 0 as name, value ->> 1 as key from json_each($3)) as own
cross join owed_event as e
where e.id between $1 and $2 and e.name = own.name
and not exists (
    select 1 from owed_delivery as d
    where d.event_id = e.id and d.receiver_key = own.key)
limit 1
