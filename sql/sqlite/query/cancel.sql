-- Withdraws what is owed. Whoever runs it holds it no longer: what it comes to is discarded.
-- Parameters: a JSON array of ids, now.
-- Index: the primary key.
update owed_delivery
set status = 'cancelled', completed_at = $2, lease_expires_at = 0, losses = 0
where id in (select value from json_each($1)) and status in ('pending', 'failed', 'claimed')
