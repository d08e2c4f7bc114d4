-- The table that a bare loop writes its deliveries to, claims them in, and acknowledges them in.
create table owed_bench_delivery (
    id integer primary key,
    event_id integer not null,
    receiver_key text not null,
    status text not null default 'pending',
    available_at integer not null,
    claimed_at integer not null default 0,
    completed_at integer not null default 0
) strict
