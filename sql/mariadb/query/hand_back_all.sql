-- Hands back every row that somebody holds, but one.
-- Parameters: claimed_by, id of the row to keep (0: none).
-- Index: owed_delivery_claimed; it holds only what is claimed now.
update owed_delivery force index (owed_delivery_claimed)
set lease_expires_at = '1970-01-01 00:00:00'
where claimed_lane is not null and claimed_by = $1 and id <> $2
and lease_expires_at > '1970-01-01 00:00:00'
