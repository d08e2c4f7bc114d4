-- Is there a store at all?
-- Columns: 1 or 0.
select count(*) from sqlite_schema where type = 'table' and name = 'owed_schema'
