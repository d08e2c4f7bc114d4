-- Withdraws what is owed. Whoever runs it holds it no longer: what it comes to is discarded.
-- Parameters: a JSON array of ids, now.
-- Index: the primary key.
update owed_delivery
set status = 'cancelled', completed_at = $2::timestamptz, lease_expires_at = timestamptz 'epoch', losses = 0
where id = any (translate($1::text, '[]', '{}')::bigint[]) and status in ('pending', 'failed', 'claimed')
