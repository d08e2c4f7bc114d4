-- Ends owed rows as orphaned.
-- Parameters: a JSON array of ids, now, the sentence.
-- Index: the primary key.
update owed_delivery
set status = 'orphaned', completed_at = $2::timestamptz, last_error = $3::text,
    lease_expires_at = timestamptz 'epoch'
where id = any (array(
    select free.id from owed_delivery as free
    where free.id = any (translate($1::text, '[]', '{}')::bigint[])
    and (free.status in ('pending', 'failed')
        or (free.status = 'claimed' and free.lease_expires_at < $2))
    order by free.id for no key update skip locked))
