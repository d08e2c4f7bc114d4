-- Which of these are owed and can be withdrawn?
-- Parameters: a JSON array of ids, receiver key (empty: any), now.
-- Columns: id, event_id, whether somebody runs it.
-- Index: the primary key.
select d.id, d.event_id, (d.status = 'claimed' and d.lease_expires_at >= $3::timestamptz)::integer as runs
from owed_delivery as d
where d.id = any (translate($1::text, '[]', '{}')::bigint[]) and d.status in ('pending', 'failed', 'claimed')
and ($2::text = '' or d.receiver_key = $2)
order by d.id
