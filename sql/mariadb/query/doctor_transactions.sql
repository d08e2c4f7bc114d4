-- Transactions that have been open for long: nothing that was changed since can be cleared away.
-- Parameters: for how long (microseconds).
-- Columns: connection, who it is, for how long (microseconds), 0.
-- Index: none, it asks the server.
select cast(t.trx_mysql_thread_id as char), coalesce(concat('user ', p.user, ', ', lower(p.command)), ''),
    timestampdiff(microsecond, t.trx_started, convert_tz(now(6), @@session.time_zone, 'SYSTEM')), 0
from information_schema.innodb_trx as t
left join information_schema.processlist as p on p.id = t.trx_mysql_thread_id
where t.trx_mysql_thread_id not in (0, connection_id())
and t.trx_started < convert_tz(now(6), @@session.time_zone, 'SYSTEM') - interval $1 microsecond
order by t.trx_started
limit 5
