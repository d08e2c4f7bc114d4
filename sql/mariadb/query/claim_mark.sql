-- Takes picked rows. claimed_at always grows, also under a clock that stands still or goes back: no
-- two claims of one row have the same fence. A lapsed lease is a loss, one at the epoch was handed back.
-- Parameters: a JSON array of ids, claimed_by, now, lease_expires_at.
-- Index: the primary key.
update json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_delivery as d on d.id = picked.id
set d.losses = d.losses + (d.status = 'claimed' and d.lease_expires_at > '1970-01-01 00:00:00'),
    d.status = 'claimed', d.claimed_by = $2,
    d.claimed_at = greatest(cast($3 as datetime(6)), d.claimed_at + interval 1 microsecond),
    d.lease_expires_at = $4
