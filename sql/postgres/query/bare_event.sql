-- A bare loop fires: one row.
-- Parameters: id, name, payload, fired_at.
insert into owed_bench_event (id, name, payload, fired_at)
values ($1::bigint, $2::text, $3::text::json, $4::timestamptz)
