-- Until the transaction ends nobody in it waits for a lock; a limit that is lower still stays.
-- Index: none.
select set_config('lock_timeout', '5ms', true)
where current_setting('lock_timeout')::interval not between interval '1 microsecond' and interval '5 ms'
