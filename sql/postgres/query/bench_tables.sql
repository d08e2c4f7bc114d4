-- Has owed bench tables of its own here: one that runs, or one that was killed?
-- Columns: how many.
select count(*) from pg_catalog.pg_class as c
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
where n.nspname = current_schema() and c.relkind = 'r'
    and c.relname in ('owed_bench_event', 'owed_bench_delivery', 'owed_bench_effect')
