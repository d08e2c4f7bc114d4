-- Owes events of a name to those who want them now and were never owed them. One whose targets are named by a function gets
-- a row that a relay expands: its digest says that this is not the first time.
-- Parameters: a JSON array of ids, their name, a JSON array of receiver keys (empty: any), now, the side lane without
-- its app (empty: the receiver's own lane).
-- Index: owed_receiver_by_event, unique (event_id, receiver_key, target_digest).
insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts, available_at,
    due_at)
select e.value, r.key, case r.targets when 'callback' then x'5f7355a8983a068b3ad8c44ea4bb3c452bf8e213c9c2aeb2815572ca5e6dae79' else x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' end,
    case when $5 = '' then r.stored_lane when r.paused_at > 0 then r.app || '/!' || $5 else r.app || '/' || $5 end,
    case r.targets when 'callback' then 'expand' else r.kind end, r.max_attempts, $4, $4
from json_each($1) as e
cross join owed_receiver as r
where r.event_name in ($2, '*') and r.mode = 'durable' and r.targets <> 'endpoints' and r.removed_at = 0
and ($3 = '[]' or r.key in (select value from json_each($3)))
and not exists (
    select 1 from owed_delivery as d
    where d.event_id = e.value and d.receiver_key = r.key and d.target_digest = case r.targets when 'callback' then x'5f7355a8983a068b3ad8c44ea4bb3c452bf8e213c9c2aeb2815572ca5e6dae79' else x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' end)
order by e.value, r.key
on conflict (event_id, receiver_key, target_digest) do nothing
