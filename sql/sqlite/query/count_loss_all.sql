-- Adds a loss to every row that somebody holds, and hands it back.
-- Parameters: claimed_by.
-- Index: owed_delivery_claimed; it holds only what is claimed now.
update owed_delivery indexed by owed_delivery_claimed set losses = losses + 1, lease_expires_at = 0
where status = 'claimed' and claimed_by = $1 and lease_expires_at > 0
