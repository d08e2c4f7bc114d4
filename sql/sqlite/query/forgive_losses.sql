-- Takes back the loss that a row will be given when its lapsed lease is claimed. One below zero makes
-- good a loss to come.
-- Parameters: claimed_by.
-- Index: owed_delivery_claimed; it holds only what is claimed now.
update owed_delivery indexed by owed_delivery_claimed set losses = max(losses - 1, -1)
where status = 'claimed' and claimed_by = $1 and lease_expires_at > 0
