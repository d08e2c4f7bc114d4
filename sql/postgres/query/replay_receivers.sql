-- How many receivers want events of a name now, and how often is one of them still owed one of these? That of endpoints
-- wants those that it was owed.
-- Parameters: a JSON array of ids, their name, a JSON array of receiver keys (empty: any).
-- Columns: how many, of these still owed.
-- Index: owed_receiver_by_event, unique (event_id, receiver_key, target_digest).
select count(*), coalesce(sum((
    select count(*) from unnest(translate($1::text, '[]', '{}')::bigint[]) as e (id) where exists (
        select 1 from owed_delivery as d
        where d.event_id = e.id and d.receiver_key = r.key and d.status in ('pending', 'failed', 'claimed')))), 0)::bigint
from owed_receiver as r
where r.event_name in ($2::text, '*') and r.mode = 'durable' and r.removed_at = timestamptz 'epoch'
and (r.targets <> 'endpoints' or exists (
    select from owed_delivery as d
    where d.event_id = any (translate($1::text, '[]', '{}')::bigint[]) and d.receiver_key = r.key))
and ($3::text = '[]' or r.key in (select json_array_elements_text($3::json)))
