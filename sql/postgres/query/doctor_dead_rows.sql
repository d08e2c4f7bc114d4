-- Tables of ours whose dead rows nobody has cleared away for ten minutes: a fifth of what is alive, and many.
-- Parameters: how many are many.
-- Columns: table, when it was last vacuumed, dead rows, live ones.
-- Index: none, it asks the server's statistics.
select t.relname::text,
    coalesce(to_char(greatest(t.last_vacuum, t.last_autovacuum) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'never'),
    t.n_dead_tup, t.n_live_tup
from pg_stat_user_tables as t
join pg_class as c on c.oid = t.relid
where t.relname like 'owed\_%'
and c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('owed_delivery'))
and t.n_dead_tup > $1::bigint and t.n_dead_tup > t.n_live_tup / 5
and coalesce(greatest(t.last_vacuum, t.last_autovacuum), timestamptz 'epoch')
    < statement_timestamp() - interval '10 minutes'
order by 1
