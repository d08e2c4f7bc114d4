-- Nobody here waits any more.
-- Columns: nothing.
-- Index: none.
select pg_advisory_unlock_shared(1870095716, 2)
