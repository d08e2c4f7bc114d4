-- Makes a held row ready for a task site: its lease begins anew, unless it was handed back. That it may
-- end with the row untaken is no loss: one is taken off beforehand, and put back by who takes the row.
-- Parameters: id, claimed_by, claimed_at, lease_expires_at.
-- Index: the primary key.
select from owed_renew($1::bigint, $2::text, $3::timestamptz, $4::timestamptz, -1)
