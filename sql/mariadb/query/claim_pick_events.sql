-- What is owed for the first time, and due, of some events to some receivers, in the order of the queue;
-- in whatever lane, but not while the receiver is paused.
-- Parameters: a JSON array of event ids, a JSON array of receiver keys, kind, now, how many.
-- Columns: id.
-- Index: unique (event_id, receiver_key, target_digest).
select d.id
from json_table($1, '$[*]' columns (id bigint path '$')) as event
straight_join json_table($2, '$[*]' columns (`key` varchar(255) character set utf8mb4
    collate utf8mb4_nopad_bin path '$')) as receiver
straight_join owed_delivery as d force index (owed_delivery_once)
where d.event_id = event.id and d.receiver_key = receiver.`key`
and d.kind = $3 and d.status = 'pending' and d.available_at <= $4 and instr(d.lane, '!') = 0
order by d.available_at, d.id limit $5
for update skip locked
