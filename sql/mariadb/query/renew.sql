-- Moves the end of a lease, if the row is still held under the fence and was not handed back.
-- Parameters: id, claimed_by, claimed_at, lease_expires_at.
-- Index: the primary key.
update owed_delivery set lease_expires_at = $4
where id = $1 and status = 'claimed' and claimed_by = $2 and claimed_at = $3
and lease_expires_at > '1970-01-01 00:00:00'
