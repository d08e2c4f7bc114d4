-- From here on no statement waits long for a row's lock: a second is the least that can be said here.
-- What the session was set to is kept for calm.
set @owed_lock_wait = @@session.innodb_lock_wait_timeout, session innodb_lock_wait_timeout = 1
