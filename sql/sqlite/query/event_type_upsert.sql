-- Publishes an event type; changes nothing where nothing differs, or where a newer release declared it.
-- Parameters: name, app, version, fields, release, published_at, retention in seconds or null, when it
-- goes ('succeeded', 'settled', or empty).
-- Index: the primary key.
insert into owed_event_type (name, app, version, fields, release, published_at, retention_seconds, delete_when)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (name, app) do update
set version = excluded.version, fields = excluded.fields,
    release = max(owed_event_type.release, excluded.release),
    published_at = excluded.published_at,
    retention_seconds = excluded.retention_seconds, delete_when = excluded.delete_when,
    removed_at = 0
where (excluded.release = 0 or excluded.release >= owed_event_type.release)
and (owed_event_type.removed_at <> 0 or excluded.release > owed_event_type.release
    or owed_event_type.version <> excluded.version or owed_event_type.fields <> excluded.fields
    or owed_event_type.retention_seconds is not excluded.retention_seconds
    or owed_event_type.delete_when <> excluded.delete_when)
