-- What became of a transaction that wrote one event, by a session that is gone: committed, aborted; null: nobody
-- can tell. That is so where a server was promoted meanwhile, where a standby may be waited for and lack it, and
-- where the event may have been deleted since. It would be among the newest of its name.
-- Parameters: the event's uid, its name, the timeline of the server that it was sent to, its recorded_at.
-- Columns: what became of it.
-- Index: owed_event_by_name, the primary key of owed_event_type.
with newest as materialized (
    select uid, recorded_at from owed_event where name = $2::text order by id desc limit 10000
)
select case
    when left(pg_walfile_name(pg_current_wal_lsn()), 8) is distinct from $3::text
        or current_setting('synchronous_standby_names') <> '' then null
    when exists (select from newest where uid = $1::bytea) then 'committed'
    when $4::timestamptz < now() - interval '1 minute'
        or exists (select from owed_event_type where name = $2::text
            and (delete_when <> '' or retention_seconds < 3600))
        or (select count(*) = 10000 and min(recorded_at) > now() - interval '1 minute' from newest) then null
    else 'aborted' end
