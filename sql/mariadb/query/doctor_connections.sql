-- Are the server's connections about to run out?
-- Parameters: from what part of them on, in percent.
-- Columns: the setting, the statement that raises it, connections in use, those that users may have.
-- Index: none, it asks the server.
select 'max_connections', concat('set global max_connections = ', 2 * budget.most), budget.used, budget.most
from (
    select (select count(*) from information_schema.processlist where command <> 'Daemon') as used,
        @@global.max_connections as most
) as budget
where budget.used * 100 >= budget.most * $1
