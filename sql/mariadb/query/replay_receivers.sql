-- How many receivers want events of a name now, and how often is one of them still owed one of these? That of endpoints
-- wants those that it was owed.
-- Parameters: a JSON array of ids, their name, a JSON array of receiver keys (empty: any).
-- Columns: how many, of these still owed.
-- Index: owed_receiver_by_event, unique (event_id, receiver_key, target_digest).
select count(*), coalesce(sum((
    select count(*) from json_table($1, '$[*]' columns (id bigint path '$')) as e where exists (
        select 1 from owed_delivery as d force index (owed_delivery_once)
        where d.event_id = e.id and d.receiver_key = r.`key` and d.status in ('pending', 'failed', 'claimed')))), 0)
from owed_receiver as r
where r.event_name in ($2, '*') and r.mode = 'durable' and r.removed_at = '1970-01-01 00:00:00'
and (r.targets <> 'endpoints' or exists (
    select 1 from json_table($1, '$[*]' columns (id bigint path '$')) as e
    straight_join owed_delivery as d force index (owed_delivery_once) on d.event_id = e.id and d.receiver_key = r.`key`))
and ($3 = '[]' or json_contains($3, json_quote(r.`key`)))
