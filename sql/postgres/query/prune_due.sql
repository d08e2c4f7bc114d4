-- Which of these events can go?
-- Parameters: a JSON array of ids; 'succeeded': those that go when they have succeeded, and did; else those
-- of which all that was owed has ended.
-- Columns: id.
-- "offset 0": each is looked up by itself, however many the planner expects.
-- Index: the primary key, unique (event_id, receiver_key, target_digest).
select e.id from owed_event as e
where e.id = any (translate($1::text, '[]', '{}')::bigint[])
and ($2::text <> 'succeeded' or e.delete_when || '' = 'succeeded')
and not exists (
    select from owed_delivery as d
    where d.event_id = e.id and d.status || '' <> 'succeeded'
    and ($2 = 'succeeded' or d.status || '' in ('pending', 'claimed', 'failed')) offset 0)
order by e.id
