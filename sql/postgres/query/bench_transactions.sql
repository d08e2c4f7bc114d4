-- How many transactions have ended on the server: everybody's in this database, or on MariaDB in all.
-- Columns: transactions.
select xact_commit + xact_rollback from pg_catalog.pg_stat_database
where datname = current_database()
