-- Which event that was committed has this dedupe key? Nobody is waited for.
-- Parameters: the key.
-- Columns: id of the event.
-- Index: unique (dedupe_key).
select id from owed_event where dedupe_key = $1
