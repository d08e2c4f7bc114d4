-- Ends owed rows as orphaned.
-- Parameters: a JSON array of ids, now, the sentence.
-- Index: the primary key.
update json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_delivery as d on d.id = picked.id
set d.completed_at = $2, d.last_error = $3, d.lease_expires_at = '1970-01-01 00:00:00',
    d.status = 'orphaned'
where d.status in ('pending', 'failed') or (d.status = 'claimed' and d.lease_expires_at < $2)
