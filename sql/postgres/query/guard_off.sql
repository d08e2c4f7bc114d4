-- Takes the guard away. Division by zero: it is gone, and what is open now is not the transaction that
-- was guarded.
-- Columns: 1.
-- Index: the primary key.
with guard as (delete from owed_guard where session = pg_backend_pid() returning 1)
select 1 / count(*) from guard
