-- The catalogue's event types.
-- Columns: app, name, version, fields, release, published_at, removed_at.
-- Index: the primary key.
select app, name, version, fields, release, published_at, removed_at
from owed_event_type
order by name, app
