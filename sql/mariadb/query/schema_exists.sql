-- Is there a store at all?
-- Columns: 1 or 0.
select count(*) from information_schema.tables
where table_schema = database() and table_name = 'owed_schema'
