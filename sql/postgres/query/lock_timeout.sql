-- How long a statement of this session waits for a lock; a limit that is lower stays.
-- Parameters: milliseconds.
-- Index: none.
select set_config('lock_timeout', $1::bigint::text, false)
where current_setting('lock_timeout')::interval
    not between interval '1 microsecond' and $1::bigint * interval '1 ms'
