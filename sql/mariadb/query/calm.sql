-- Gives the session back what hurry took: how long it waits for a row's lock.
set session innodb_lock_wait_timeout = @owed_lock_wait
