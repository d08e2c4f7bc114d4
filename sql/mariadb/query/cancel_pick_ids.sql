-- Which of these are owed and can be withdrawn?
-- Parameters: a JSON array of ids, receiver key (empty: any), now.
-- Columns: id, event_id, whether somebody runs it.
-- Index: the primary key.
select d.id, d.event_id, (d.status = 'claimed' and d.lease_expires_at >= $3) as runs
from json_table($1, '$[*]' columns (id bigint path '$')) as asked
straight_join owed_delivery as d on d.id = asked.id
where 1 and d.status in ('pending', 'failed', 'claimed')
and ($2 = '' or d.receiver_key = $2)
order by d.id
