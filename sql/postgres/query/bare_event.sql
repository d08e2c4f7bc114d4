-- A bare loop fires: one row.
-- Parameters: name, payload, fired_at.
-- Columns: the new id.
insert into owed_bench_event (name, payload, fired_at)
values ($1::text, $2::text::json, $3::timestamptz) returning id
