-- Is the server far behind with clearing away what was changed?
-- Parameters: how many changes are many.
-- Columns: the oldest transaction's connection, the statement that helps, changes that are not cleared away, 0.
-- Index: none, it asks the server.
select coalesce(cast(t.trx_mysql_thread_id as char), 'none'),
    coalesce(concat('kill ', t.trx_mysql_thread_id), 'set global innodb_purge_batch_size = 1000'), m.count, 0
from information_schema.innodb_metrics as m
left join (
    select trx_mysql_thread_id from information_schema.innodb_trx
    where trx_mysql_thread_id not in (0, connection_id()) order by trx_started limit 1
) as t on true
where m.name = 'trx_rseg_history_len' and m.count > $1
