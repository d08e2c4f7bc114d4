-- The same as claim_pick, for a relay that can run only some of a lane's receivers.
-- Parameters: a JSON array of lanes, kind, now, how many, a JSON array of receiver keys, the mark
-- of claim_pick.
-- Columns: id.
-- Index: owed_delivery_by_receiver, owed_delivery_claimed.
call owed_claim_pick($1, $2, $3, $4, $5, null, $6)
