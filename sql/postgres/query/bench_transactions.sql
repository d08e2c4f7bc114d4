-- How many transactions have ended in this database: everybody's.
-- Columns: transactions.
select xact_commit + xact_rollback from pg_catalog.pg_stat_database
where datname = current_database()
