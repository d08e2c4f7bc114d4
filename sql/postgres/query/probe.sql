-- Sends something to a session that listens, to see whether it comes.
-- Parameters: its process number.
-- Columns: nothing.
-- Index: none.
select pg_notify('owed ' || $1::bigint, '')
