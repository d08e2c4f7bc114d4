-- From here on no statement waits for a row's lock; what the session was set to is kept for calm.
set @owed_lock_wait = @@session.innodb_lock_wait_timeout, session innodb_lock_wait_timeout = 0
