-- What is owed for the first time, and due, of some events to some receivers, in the order of the queue;
-- in whatever lane, but not while the receiver is paused.
-- Parameters: a JSON array of event ids, a JSON array of receiver keys, kind, now, how many.
-- Columns: id.
-- Index: unique (event_id, receiver_key, target_digest).
select d.id
from json_each($1) as event cross join json_each($2) as receiver cross join owed_delivery as d
where d.event_id = event.value and d.receiver_key = receiver.value
and d.kind = $3 and d.status = 'pending' and d.available_at <= $4 and instr(d.lane, '!') = 0
order by d.available_at, d.id limit $5
