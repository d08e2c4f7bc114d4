-- Makes a held row claimable by anyone at once: still claimed, its lease at the epoch.
-- Parameters: id, claimed_by, claimed_at.
-- Index: the primary key.
select from owed_renew($1::bigint, $2::text, $3::timestamptz, timestamptz 'epoch', 0)
