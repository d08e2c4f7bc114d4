-- Writes an event; is given many rows of parameters where the server takes them. Fails where one has a dedupe key
-- that is taken, and writes none.
-- Parameters: uid, name, version, dedupe key or null, occurred_at, recorded_at, due_at, actor_key, actor_label,
-- scope, correlation_id, causation_id or null, traceparent, retention in seconds or null, when it is deleted,
-- payload as text.
-- Index: unique (dedupe_key).
insert into owed_event (uid, name, version, dedupe_key, occurred_at, recorded_at, due_at, actor_key,
    actor_label, scope, correlation_id, causation_id, traceparent, retention_seconds, delete_when, payload)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
