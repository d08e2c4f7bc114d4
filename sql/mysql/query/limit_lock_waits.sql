-- How long a statement waits for another's lock, on rows and on tables, in whole seconds (one is the
-- least): an error then.
-- Parameters: microseconds.
set session innodb_lock_wait_timeout = greatest(cast(ceil($1 / 1000000) as signed), 1),
    session lock_wait_timeout = greatest(cast(ceil($1 / 1000000) as signed), 1)
