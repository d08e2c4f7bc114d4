-- What the tables of events and deliveries have come to: everybody's rows.
-- Columns: dead tuples, bytes of the tables, bytes of their indexes.
select coalesce(sum(n_dead_tup), 0)::bigint, coalesce(sum(pg_table_size(relid)), 0)::bigint,
    coalesce(sum(pg_indexes_size(relid)), 0)::bigint
from pg_catalog.pg_stat_user_tables
where schemaname = current_schema() and relname in ('owed_event', 'owed_delivery')
