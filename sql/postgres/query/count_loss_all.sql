-- Adds a loss to every row that somebody holds, and hands it back.
-- Parameters: claimed_by.
-- Index: owed_delivery_claimed; it holds only what is claimed now.
update owed_delivery set losses = losses + 1, lease_expires_at = timestamptz 'epoch'
where status = 'claimed' and claimed_by = $1::text and lease_expires_at > timestamptz 'epoch'
