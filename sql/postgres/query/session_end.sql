-- Ends a session, if there is still one, and waits until what it held is free.
-- Parameters: its process number, when it began.
-- Columns: whether it is gone.
-- Index: none.
select pg_terminate_backend(pid, 5000) from pg_stat_get_activity($1::bigint::integer)
where backend_start = $2::timestamptz
