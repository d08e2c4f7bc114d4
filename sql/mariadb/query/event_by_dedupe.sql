-- Who has this dedupe key? As of now, also where the caller's transaction has an older snapshot.
-- Parameters: the key.
-- Columns: id of the event.
-- Index: unique (dedupe_key).
select id from owed_event where dedupe_key = $1 lock in share mode
