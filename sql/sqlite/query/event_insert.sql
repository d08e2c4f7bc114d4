-- Writes an event; its trigger writes what the catalogue says is owed for it. A taken dedupe key
-- writes nothing and gives no row.
-- Parameters: uid, name, version, payload, dedupe key or null, occurred_at, recorded_at, due_at,
-- actor_key, actor_label, scope, correlation_id, causation_id or null, traceparent.
-- Columns: the new id.
-- Index: unique (dedupe_key).
insert into owed_event (uid, name, version, payload, dedupe_key, occurred_at, recorded_at, due_at,
    actor_key, actor_label, scope, correlation_id, causation_id, traceparent)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
on conflict (dedupe_key) do nothing
returning id
