-- Has owed bench tables of its own here: one that runs, or one that was killed?
-- Columns: how many.
select count(*) from sqlite_schema
where type = 'table' and name in ('owed_bench_event', 'owed_bench_delivery', 'owed_bench_effect')
