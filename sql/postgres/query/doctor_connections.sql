-- Are the server's connections about to run out?
-- Parameters: from what part of them on, in percent.
-- Columns: the setting, the statement that raises it, connections in use, those that users may have.
-- Index: none, it asks the server's statistics.
select 'max_connections', 'alter system set max_connections = ' || 2 * (most + reserved), used, most
from (
    select (select sum(numbackends) from pg_stat_database)::bigint as used,
        current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint as most,
        current_setting('superuser_reserved_connections')::bigint as reserved
) as budget
where used * 100 >= most * $1::bigint
