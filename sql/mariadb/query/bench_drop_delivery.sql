-- Takes back what bench_make_delivery made.
drop table if exists owed_bench_delivery
