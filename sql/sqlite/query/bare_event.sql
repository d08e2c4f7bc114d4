-- A bare loop fires: one row.
-- Parameters: id, name, payload, fired_at.
insert into owed_bench_event (id, name, payload, fired_at) values ($1, $2, $3, $4)
