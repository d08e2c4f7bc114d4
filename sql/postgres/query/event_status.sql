-- What became of a transaction that wrote one event, by a session that is gone: committed, aborted; null: it may
-- have been deleted since. A server that was promoted meanwhile does not know.
-- Parameters: the event's uid, its name, the timeline of the server that it was sent to.
-- Columns: what became of it.
-- Index: owed_event_by_name, the primary key of owed_event_type.
select case
    when left(pg_walfile_name(pg_current_wal_lsn()), 8) is distinct from $3::text then null
    when exists (select from owed_event where name = $2::text and uid = $1::bytea) then 'committed'
    when not exists (select from owed_event_type where name = $2::text
        and (delete_when <> '' or retention_seconds < 3600)) then 'aborted' end
