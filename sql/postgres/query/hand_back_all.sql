-- Hands back every row that somebody holds, but one.
-- Parameters: claimed_by, id of the row to keep (0: none).
-- Index: owed_delivery_claimed; it holds only what is claimed now.
update owed_delivery set lease_expires_at = timestamptz 'epoch'
where status = 'claimed' and claimed_by = $1::text and id <> $2::bigint
and lease_expires_at > timestamptz 'epoch'
