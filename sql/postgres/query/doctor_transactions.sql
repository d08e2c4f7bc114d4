-- Transactions of this database that have been open for long and hold the horizon: nothing that ended since can be
-- cleared away, and claims read past it.
-- Parameters: for how long (microseconds).
-- Columns: process, who it is, for how long (microseconds), 0.
-- Index: none, it asks the server's statistics.
select pid::text, concat_ws(', ', nullif(application_name, ''), 'user ' || usename, state),
    (extract(epoch from statement_timestamp() - xact_start) * 1000000)::bigint, 0::bigint
from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()
and (backend_xmin is not null or backend_xid is not null)
and backend_type in ('client backend', 'parallel worker')
and xact_start < statement_timestamp() - $1::bigint * interval '1 microsecond'
order by xact_start
limit 5
