-- Takes picked rows. claimed_at always grows, also under a clock that stands still or goes back: no
-- two claims of one row have the same fence. A lapsed lease is a loss, one at the epoch was handed back.
-- Parameters: a JSON array of ids, claimed_by, now, lease_expires_at.
-- Index: the primary key.
update owed_delivery
set losses = losses + (status = 'claimed' and lease_expires_at > 0),
    status = 'claimed', claimed_by = $2, claimed_at = max($3, claimed_at + 1), lease_expires_at = $4
where id in (select value from json_each($1))
