-- Indexes on tables of ours that are not valid, as one that was made concurrently and cut off: they are written and
-- never read, and a unique one keeps nobody out.
-- Columns: index, its table, 0, 0.
-- Index: none, it asks the server's catalogue.
select c.relname::text, t.relname::text, 0::bigint, 0::bigint
from pg_index as i
join pg_class as c on c.oid = i.indexrelid
join pg_class as t on t.oid = i.indrelid
where not i.indisvalid and t.relname like 'owed\_%'
and t.relnamespace = (select relnamespace from pg_class where oid = to_regclass('owed_delivery'))
order by 1
