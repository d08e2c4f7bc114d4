-- Keeps what an attempt came to with its row, if that is still held under the fence.
-- Parameters: id, claimed_by, claimed_at, result.
-- Index: the primary key.
update owed_delivery set result = $4::text
where id = $1::bigint and status = 'claimed' and claimed_by = $2::text and claimed_at = $3::timestamptz
