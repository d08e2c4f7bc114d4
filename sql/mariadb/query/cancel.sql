-- Withdraws what is owed. Whoever runs it holds it no longer: what it comes to is discarded.
-- Parameters: a JSON array of ids, now.
-- Index: the primary key.
update json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_delivery as d on d.id = picked.id
set d.completed_at = $2, d.lease_expires_at = '1970-01-01 00:00:00', d.losses = 0, d.status = 'cancelled'
where d.status in ('pending', 'failed', 'claimed')
