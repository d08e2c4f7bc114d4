-- A bare loop fires: one row.
-- Parameters: name, payload, fired_at.
-- Columns: the new id.
insert into owed_bench_event (name, payload, fired_at) values ($1, $2, $3) returning id
