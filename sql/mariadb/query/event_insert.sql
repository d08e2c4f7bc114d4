-- Writes an event and what the catalogue says is owed for it. A taken dedupe key writes nothing and
-- gives no row. A procedure, not a trigger: what a trigger reads it locks, and a publish would wait for
-- every transaction that fires.
-- Parameters: uid, name, version, payload, dedupe key or null, occurred_at, recorded_at, due_at,
-- actor_key, actor_label, scope, correlation_id, causation_id or null, traceparent.
-- Columns: the new id.
-- Index: unique (dedupe_key).
call owed_event_insert($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
