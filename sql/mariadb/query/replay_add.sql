-- Owes events of a name to those who want them now and were never owed them. One whose targets are named by a function gets
-- a row that a relay expands: its digest says that this is not the first time.
-- Parameters: a JSON array of ids, their name, a JSON array of receiver keys (empty: any), now, the side lane without
-- its app (empty: the receiver's own lane).
-- Index: owed_receiver_by_event, unique (event_id, receiver_key, target_digest).
insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts, available_at,
    due_at)
select e.id, r.`key`, case r.targets when 'callback' then x'5f7355a8983a068b3ad8c44ea4bb3c452bf8e213c9c2aeb2815572ca5e6dae79' else x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' end,
    case when $5 = '' then r.stored_lane when r.paused_at > '1970-01-01 00:00:00' then concat(r.app, '/!', $5) else concat(r.app, '/', $5) end,
    case r.targets when 'callback' then 'expand' else r.kind end, r.max_attempts, $4, $4
from json_table($1, '$[*]' columns (id bigint path '$')) as e
straight_join owed_receiver as r
where r.event_name in ($2, '*') and r.mode = 'durable' and r.targets <> 'endpoints' and r.removed_at = '1970-01-01 00:00:00'
and ($3 = '[]' or json_contains($3, json_quote(r.`key`)))
and not exists (
    select 1 from owed_delivery as d force index (owed_delivery_once)
    where d.event_id = e.id and d.receiver_key = r.`key` and d.target_digest = case r.targets when 'callback' then x'5f7355a8983a068b3ad8c44ea4bb3c452bf8e213c9c2aeb2815572ca5e6dae79' else x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' end)
order by e.id, r.`key`
on duplicate key update event_id = values(event_id)
