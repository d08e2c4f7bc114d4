-- How far the server's log has come, in bytes: everybody's writes.
-- Columns: bytes.
select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint
