-- Which of these events can go?
-- Parameters: a JSON array of ids; 'succeeded': those that go when they have succeeded, and did; else those
-- of which all that was owed has ended.
-- Columns: id.
-- Index: the primary key, unique (event_id, receiver_key, target_digest).
select e.id from owed_event as e
where e.id in (select value from json_each($1))
and ($2 <> 'succeeded' or e.delete_when = 'succeeded')
and not exists (
    select 1 from owed_delivery as d
    where d.event_id = e.id and d.status <> 'succeeded'
    and ($2 = 'succeeded' or d.status in ('pending', 'claimed', 'failed')))
order by e.id
