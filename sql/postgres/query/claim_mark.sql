-- Takes picked rows. claimed_at always grows, also under a clock that stands still or goes back: no
-- two claims of one row have the same fence. A lapsed lease is a loss, one at the epoch was handed back.
-- Parameters: a JSON array of ids, claimed_by, now, lease_expires_at.
-- Index: the primary key.
select from owed_mark(translate($1::text, '[]', '{}')::bigint[], $2::text, $3::timestamptz,
    $4::timestamptz)
