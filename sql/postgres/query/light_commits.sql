-- The commit of this transaction does not wait for the disk: a crash of the server may undo it. A
-- statement that is sent along with it, outside of a transaction, is one with it.
select set_config('synchronous_commit', 'off', true)
