-- Ends a row whose targets are owed now, if it is still held under the fence.
-- Parameters: id, claimed_by, claimed_at.
-- Index: the primary key.
select from owed_expanded($1::bigint, $2::text, $3::timestamptz)
