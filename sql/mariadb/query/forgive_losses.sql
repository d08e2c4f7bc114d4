-- Takes back the loss that a row will be given when its lapsed lease is claimed. One below zero makes
-- good a loss to come.
-- Parameters: claimed_by.
-- Index: owed_delivery_claimed; it holds only what is claimed now.
call owed_forgive_held($1)
