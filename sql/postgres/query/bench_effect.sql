-- What a receiver of a benchmark writes: one row.
-- Parameters: delivery_id.
insert into owed_bench_effect (delivery_id) values ($1::bigint)
