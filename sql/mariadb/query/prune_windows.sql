-- The next longer window of their own that events have.
-- Parameters: a window in seconds.
-- Columns: the next one, null: there is none.
-- Index: owed_event_own_window.
select min(retention_seconds) from owed_event where retention_seconds > $1
