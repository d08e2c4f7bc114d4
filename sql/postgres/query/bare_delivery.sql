-- A bare loop owes: one row.
-- Parameters: event_id, receiver_key, available_at.
insert into owed_bench_delivery (event_id, receiver_key, available_at)
values ($1::bigint, $2::text, $3::timestamptz)
