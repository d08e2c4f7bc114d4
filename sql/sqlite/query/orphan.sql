-- Ends owed rows as orphaned.
-- Parameters: a JSON array of ids, now, the sentence.
-- Index: the primary key.
update owed_delivery
set status = 'orphaned', completed_at = $2, last_error = $3, lease_expires_at = 0
where id in (select value from json_each($1))
and (status in ('pending', 'failed') or (status = 'claimed' and lease_expires_at < $2))
