-- What is owed and can be withdrawn, by id.
-- Parameters: ids above this, how many, receiver key (empty: any), now.
-- Columns: id, event_id, whether somebody runs it.
-- Index: the primary key.
select d.id, d.event_id, (d.status = 'claimed' and d.lease_expires_at >= $4) as runs
from owed_delivery as d
where d.id > $1 and d.status in ('pending', 'failed', 'claimed')
and ($3 = '' or d.receiver_key = $3)
order by d.id limit $2
