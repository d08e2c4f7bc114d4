-- Whether all who fired before somebody waited, and need not have announced it, are done.
-- Columns: whether they are.
-- Index: none.
select case when pg_try_advisory_lock(1870095716, 1) then pg_advisory_unlock(1870095716, 1) else false end
