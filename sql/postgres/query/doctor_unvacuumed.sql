-- Tables of ours that are left out when everything is vacuumed by itself.
-- Columns: table, the statement that ends that, 0, 0.
-- Index: none, it asks the server's catalogue.
select relname::text, 'alter table ' || relname || ' reset (autovacuum_enabled)', 0::bigint, 0::bigint
from pg_class
where relkind = 'r' and relname like 'owed\_%'
and relnamespace = (select relnamespace from pg_class where oid = to_regclass('owed_delivery'))
and exists (select from unnest(reloptions) as o where o in ('autovacuum_enabled=false', 'autovacuum_enabled=off', 'autovacuum_enabled=0', 'autovacuum_enabled=no'))
order by 1
