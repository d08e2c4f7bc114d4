-- What became of a transaction: committed, aborted, in progress; null: that is forgotten. A server that
-- was promoted meanwhile does not know.
-- Parameters: its number, the timeline of the server that gave it.
-- Columns: what became of it.
-- Index: none.
select case when left(pg_walfile_name(pg_current_wal_lsn()), 8) = $2::text then pg_xact_status($1::bigint::text::xid8) end
