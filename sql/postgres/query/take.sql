-- Moves a claim to who was handed it, if the row is still held under that claim: of several that were
-- handed the same one, only the first finds it.
-- Parameters: id, claimed_by, claimed_at; of the one that takes it: claimed_by, claimed_at,
-- lease_expires_at.
-- Index: the primary key.
select from owed_take($1::bigint, $2::text, $3::timestamptz, $4::text, $5::timestamptz, $6::timestamptz)
