-- Lets other migrations of this database go on.
do release_lock(concat('owed_migrate.', md5(database())))
