-- Writes an event, with the retention that the catalogue has for its name; its trigger writes what the
-- catalogue says is owed for it. A taken dedupe key writes nothing and gives no row.
-- Parameters: uid, name, version, payload, dedupe key or null, occurred_at, recorded_at, due_at,
-- actor_key, actor_label, scope, correlation_id, causation_id or null, traceparent.
-- Columns: the new id.
-- Index: unique (dedupe_key), the primary key of owed_event_type.
insert into owed_event (uid, name, version, payload, dedupe_key, occurred_at, recorded_at, due_at,
    actor_key, actor_label, scope, correlation_id, causation_id, traceparent, retention_seconds,
    delete_when)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
    (select max(retention_seconds) from owed_event_type where name = $2 and removed_at = 0),
    (select case when max(retention_seconds) is null then coalesce(max(delete_when), '') else '' end
        from owed_event_type where name = $2 and removed_at = 0))
on conflict (dedupe_key) do nothing
returning id
