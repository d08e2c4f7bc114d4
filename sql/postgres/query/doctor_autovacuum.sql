-- Is nothing vacuumed by itself?
-- Columns: the setting, the statement that switches it on, 0, 0.
-- Index: none, it asks the server's settings.
select name, 'alter system set ' || name || ' = on', 0::bigint, 0::bigint
from pg_settings
where name in ('autovacuum', 'track_counts') and setting = 'off'
order by 1
