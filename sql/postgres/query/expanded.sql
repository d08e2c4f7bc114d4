-- Ends a row whose targets are owed now, if it is still held under the fence.
-- Parameters: id, claimed_by, claimed_at.
-- Index: the primary key.
delete from owed_delivery
where id = $1::bigint and status = 'claimed' and claimed_by = $2::text and claimed_at = $3::timestamptz
