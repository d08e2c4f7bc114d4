-- Takes back what bench_make_event made.
drop table if exists owed_bench_event
