-- The table that receivers of a benchmark insert into, where they are to write anything.
create table owed_bench_effect (
    id bigint generated always as identity primary key,
    delivery_id bigint not null
)
