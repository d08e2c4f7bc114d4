-- The same as claim_pick, without the rows of some targets, and of receivers that are not named.
-- Parameters: a JSON array of lanes, kind, now, how many, a JSON array of receiver keys or null for
-- all, a JSON array of targets: the digest in small hex digits, followed by the receiver's key, the mark of
-- claim_pick.
-- Columns: id.
-- Index: owed_delivery_owed or owed_delivery_by_receiver, owed_delivery_claimed.
call owed_claim_pick($1, $2, $3, $4, $5, $6, $7)
