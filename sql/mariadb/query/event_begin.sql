-- The same as event_insert, and begins the transaction that the event is written in.
-- Parameters: uid, name, version, payload, dedupe key or null, occurred_at, recorded_at, due_at,
-- actor_key, actor_label, scope, correlation_id, causation_id or null, traceparent.
-- Columns: the new id.
-- Index: unique (dedupe_key).
call owed_event_insert_own($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, '[]', 1)
