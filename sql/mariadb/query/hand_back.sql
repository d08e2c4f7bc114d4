-- Makes a held row claimable by anyone at once: still claimed, its lease at the epoch.
-- Parameters: id, claimed_by, claimed_at.
-- Index: the primary key.
update owed_delivery set lease_expires_at = '1970-01-01 00:00:00'
where id = $1 and status = 'claimed' and claimed_by = $2 and claimed_at = $3
and lease_expires_at > '1970-01-01 00:00:00'
