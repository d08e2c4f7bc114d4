-- Keeps other migrations of this database waiting until this one's transaction ends: two that make one
-- table at once would both fail to.
-- Columns: 1.
select 1::int from (select pg_advisory_xact_lock(hashtextextended('owed migrate', 0))) as locked
