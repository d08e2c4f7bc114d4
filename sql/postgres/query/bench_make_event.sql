-- The table that a bare loop writes its events to.
create table owed_bench_event (
    id bigint generated always as identity primary key,
    name text not null,
    payload json not null,
    fired_at timestamptz not null
)
