-- What migrate has run here.
-- Columns: kind (schema or routine), version, name, checksum.
-- Index: the primary key, by kind.
select kind, version, name, checksum from owed_schema order by kind, version, name
