-- From here on whoever fires announces it: owed_wake sees that somebody waits.
-- Columns: nothing.
-- Index: none.
select pg_advisory_lock_shared(1870095716, 2)
