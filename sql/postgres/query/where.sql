-- Names the tables that this connection reaches, the same for all that reach them: the server as it runs
-- now, and the number of a table of owed.
-- Columns: the name.
-- Index: none.
select format('%s %s of the server up since %s', current_database(), to_regclass('owed_event')::oid,
    extract(epoch from pg_postmaster_start_time()))
