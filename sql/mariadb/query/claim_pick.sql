-- Which rows can be claimed, in the order of the queue: those that are due, and claimed ones whose
-- lease is over (one that ends this moment still holds). One short index scan for each lane and arm; a
-- procedure, since no single statement gives "the first so many of each lane" here.
-- Parameters: a JSON array of lanes, kind, now, how many, the mark: what was due before it is left out,
-- and of what is claimed all but what was handed back (null: nothing is left out).
-- Columns: id.
-- Index: owed_delivery_owed, owed_delivery_claimed.
call owed_claim_pick($1, $2, $3, $4, null, null, $5)
