-- Moves a claim to who was handed it, if the row is still held under that claim: of several that were
-- handed the same one, only the first finds it.
-- Parameters: id, claimed_by, claimed_at; of the one that takes it: claimed_by, claimed_at,
-- lease_expires_at.
-- Index: the primary key.
update owed_delivery
set claimed_by = $4::text, claimed_at = $5::timestamptz, lease_expires_at = $6::timestamptz,
    losses = losses + 1
where id = $1::bigint and status = 'claimed' and claimed_by = $2::text and claimed_at = $3::timestamptz
