-- Is there a store at all?
-- Columns: 1 or 0.
select count(*) from pg_catalog.pg_class as c
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
where n.nspname = current_schema() and c.relname = 'owed_schema' and c.relkind = 'r'
