-- The same as event_insert_listed, and begins the transaction that the event is written in.
-- Parameters: those of event_insert, and a JSON array of objects: key, lane, kind, max_attempts, due (in
-- microseconds after the event's).
-- Columns: the new id.
-- Index: unique (dedupe_key), unique (event_id, receiver_key, target_digest).
call owed_event_insert_own($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 1)
