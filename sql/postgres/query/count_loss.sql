-- Adds a loss to a held row and hands it back.
-- Parameters: id, claimed_by, claimed_at.
-- Index: the primary key.
select from owed_renew($1::bigint, $2::text, $3::timestamptz, timestamptz 'epoch', 1)
