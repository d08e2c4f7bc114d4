-- How long a statement waits for another's lock, on rows and on tables, in whole seconds: an error then.
-- Parameters: microseconds.
set session innodb_lock_wait_timeout = ceil($1 / 1000000), session lock_wait_timeout = ceil($1 / 1000000)
