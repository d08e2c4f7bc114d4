-- A bare loop looks for what is due.
-- Parameters: now, how many.
-- Columns: id, payload.
-- Index: owed_bench_delivery_owed.
select d.id, e.payload::text from owed_bench_delivery as d
join owed_bench_event as e on e.id = d.event_id
where d.status = 'pending' and d.available_at <= $1::timestamptz
order by d.available_at, d.id limit $2::bigint
for no key update of d skip locked
