-- Keeps what an attempt came to with its row, if that is still held under the fence.
-- Parameters: id, claimed_by, claimed_at, result.
-- Index: the primary key.
update owed_delivery set result = $4
where id = $1 and status = 'claimed' and claimed_by = $2 and claimed_at = $3
