-- The same as misplaced for rows that somebody holds or gave back, of every receiver: they come back to
-- the lane that stands on them.
-- Parameters: how many at most.
-- Columns: id.
-- Index: owed_delivery_claimed; it holds only what is claimed now.
select owed_misplaced_claimed($1::bigint)
