-- A bare loop acknowledges: one row.
-- Parameters: id, now.
-- Index: the primary key.
update owed_bench_delivery set status = 'succeeded', completed_at = $2
where id = $1 and status = 'claimed'
