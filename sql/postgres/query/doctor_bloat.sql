-- Tables and indexes of ours that take four times the room that what is in them would, by the server's statistics.
-- Parameters: how many bytes are worth a word.
-- Columns: table or index, the statement that makes it small, its bytes, those that it needs.
-- Index: none, it asks the server's catalogue.
select name, remedy, bytes, needed
from (
    select c.relname::text as name, 'vacuum (full, analyze) ' || c.relname as remedy,
        pg_relation_size(c.oid) as bytes,
        (greatest(c.reltuples, 0)::bigint + 1000) * (40 + coalesce((select sum(s.avg_width) from pg_stats as s
            where s.tablename = c.relname and s.schemaname = n.nspname), 500))::bigint as needed
    from pg_class as c
    join pg_namespace as n on n.oid = c.relnamespace
    where c.relkind = 'r' and c.relname like 'owed\_%' and c.reltuples >= 0
    and c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('owed_delivery'))
    union all
    select c.relname::text, 'reindex index concurrently ' || c.relname, pg_relation_size(c.oid),
        (greatest(c.reltuples, 0)::bigint + 1000) * 120
    from pg_index as i
    join pg_class as c on c.oid = i.indexrelid
    join pg_class as t on t.oid = i.indrelid
    where t.relname like 'owed\_%' and c.reltuples >= 0
    and t.relnamespace = (select relnamespace from pg_class where oid = to_regclass('owed_delivery'))
) as sizes
where bytes > $1::bigint and bytes > 4 * needed
order by bytes desc
