-- Takes back the loss that a row will be given when its lapsed lease is claimed. One below zero makes
-- good a loss to come.
-- Parameters: claimed_by.
-- Index: owed_delivery_claimed; it holds only what is claimed now.
update owed_delivery force index (owed_delivery_claimed) set losses = greatest(losses - 1, -1)
where claimed_lane is not null and claimed_by = $1 and lease_expires_at > '1970-01-01 00:00:00'
