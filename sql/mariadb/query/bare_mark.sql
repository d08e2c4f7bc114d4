-- A bare loop claims: one row.
-- Parameters: id, now.
-- Index: the primary key.
update owed_bench_delivery set status = 'claimed', claimed_at = $2 where id = $1
