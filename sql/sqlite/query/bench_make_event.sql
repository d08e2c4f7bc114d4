-- The table that a bare loop writes its events to, with ids of its own.
create table owed_bench_event (
    id integer primary key,
    name text not null,
    payload text not null,
    fired_at integer not null
) strict
