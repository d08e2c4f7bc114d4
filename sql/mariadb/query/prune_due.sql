-- Which of these events can go?
-- Parameters: a JSON array of ids; 'succeeded': those that go when they have succeeded, and did; else those
-- of which all that was owed has ended.
-- Columns: id.
-- Index: the primary key, unique (event_id, receiver_key, target_digest).
select e.id
from json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_event as e on e.id = picked.id
where ($2 <> 'succeeded' or e.delete_when = 'succeeded')
and not exists (
    select 1 from owed_delivery as d force index (owed_delivery_once)
    where d.event_id = e.id and d.status <> 'succeeded'
    and ($2 = 'succeeded' or d.status in ('pending', 'claimed', 'failed')))
order by e.id
