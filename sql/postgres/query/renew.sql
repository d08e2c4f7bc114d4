-- Moves the end of a lease, if the row is still held under the fence and was not handed back.
-- Parameters: id, claimed_by, claimed_at, lease_expires_at.
-- Index: the primary key.
select from owed_renew($1::bigint, $2::text, $3::timestamptz, $4::timestamptz, 0)
