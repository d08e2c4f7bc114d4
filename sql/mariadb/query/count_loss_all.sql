-- Adds a loss to every row that somebody holds, and hands it back.
-- Parameters: claimed_by.
-- Index: owed_delivery_claimed; it holds only what is claimed now.
update owed_delivery force index (owed_delivery_claimed)
set losses = losses + 1, lease_expires_at = '1970-01-01 00:00:00'
where claimed_lane is not null and claimed_by = $1 and lease_expires_at > '1970-01-01 00:00:00'
