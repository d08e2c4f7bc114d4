-- The table that a bare loop writes its events to, with ids of its own.
create table owed_bench_event (
    id bigint primary key,
    name text not null,
    payload json not null,
    fired_at timestamptz not null
)
