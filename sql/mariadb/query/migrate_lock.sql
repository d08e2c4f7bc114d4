-- Keeps other migrations of this database waiting: a definition commits by itself here, so that no
-- transaction does.
-- Columns: 1; something else: another one went on for a minute.
select get_lock(concat('owed_migrate.', md5(database())), 60)
