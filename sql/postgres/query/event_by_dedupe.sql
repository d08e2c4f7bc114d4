-- Who has this dedupe key?
-- Parameters: the key.
-- Columns: id of the event.
-- Index: unique (dedupe_key).
select owed_event_by_dedupe($1::text)
