-- Takes back the loss that a row will be given when its lapsed lease is claimed. One below zero makes
-- good a loss to come.
-- Parameters: claimed_by.
-- Index: owed_delivery_claimed; it holds only what is claimed now.
update owed_delivery set losses = greatest(losses - 1, -1)
where status = 'claimed' and claimed_by = $1::text and lease_expires_at > timestamptz 'epoch'
