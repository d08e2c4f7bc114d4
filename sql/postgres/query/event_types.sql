-- The catalogue's event types.
-- Columns: app, name, version, fields, release, published_at, removed_at, retention_seconds
-- (null: none of its own), delete_when.
-- Index: the primary key.
select app, name, version, fields, release, published_at, removed_at,
    retention_seconds, delete_when
from owed_event_type
order by name, app
