-- The events of a name, oldest first.
-- Parameters: name.
-- Columns: id, version, payload.
-- Index: owed_event_by_name.
select id, version, payload from owed_event force index (owed_event_by_name) where name = $1 order by id
