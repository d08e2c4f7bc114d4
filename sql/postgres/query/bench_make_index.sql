-- What a bare loop finds its next rows by.
create index owed_bench_delivery_owed on owed_bench_delivery (available_at, id)
    where status = 'pending'
