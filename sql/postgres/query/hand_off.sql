-- Makes a held row ready for a task site: its lease begins anew, unless it was handed back. That it may
-- end with the row untaken is no loss: one is taken off beforehand, and put back by who takes the row.
-- Parameters: id, claimed_by, claimed_at, lease_expires_at.
-- Index: the primary key.
update owed_delivery set lease_expires_at = $4::timestamptz, losses = greatest(losses - 1, -1)
where id = $1::bigint and status = 'claimed' and claimed_by = $2::text and claimed_at = $3::timestamptz
and lease_expires_at > timestamptz 'epoch'
