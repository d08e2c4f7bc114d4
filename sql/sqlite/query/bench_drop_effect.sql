-- Takes back what bench_make_effect made.
drop table if exists owed_bench_effect
