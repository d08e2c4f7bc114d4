-- Replication slots that nobody reads and that keep the server's log from being removed.
-- Parameters: how many bytes are worth a word.
-- Columns: slot, what it is for, bytes that it holds, 0.
-- Index: none, it asks the server.
select slot_name::text, concat_ws(', ', slot_type, 'database ' || database), bytes, 0::bigint
from (
    select *, pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end,
        restart_lsn)::bigint as bytes
    from pg_replication_slots
) as slots
where not active and bytes > $1::bigint
order by bytes desc
limit 5
