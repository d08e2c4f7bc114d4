-- The table that a bare loop writes its deliveries to, claims them in, and acknowledges them in.
create table owed_bench_delivery (
    id bigint generated always as identity primary key,
    event_id bigint not null,
    receiver_key text not null,
    status text not null default 'pending',
    available_at timestamptz not null,
    claimed_at timestamptz not null default 'epoch',
    completed_at timestamptz not null default 'epoch'
)
