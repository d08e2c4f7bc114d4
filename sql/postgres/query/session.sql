-- Who serves this connection: behind a pooler, not who said hello. The number and the start of a server's
-- process name it for all time.
-- Columns: the process number, when it began, the timeline that it writes.
-- Index: none.
select pg_backend_pid()::bigint, backend_start,
    case when pg_is_in_recovery() then '' else left(pg_walfile_name(pg_current_wal_lsn()), 8) end
from pg_stat_get_activity(pg_backend_pid())
