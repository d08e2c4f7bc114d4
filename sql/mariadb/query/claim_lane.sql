-- Claims what is due in one lane, and what lapsed there, in the order of the queue; where no transaction is open.
-- Parameters: lane, kind, now, how many, the mark of claim_pick,
-- claimed_by, lease_expires_at, the most bytes of payloads, how many rows with losses go together.
-- Columns: those of claim_fetch, as they were before the claim.
-- Index: owed_delivery_owed, owed_delivery_claimed, the primary keys.
call owed_claim_lane($1, $2, $3, $4, $5, $6, $7, $8, $9)
