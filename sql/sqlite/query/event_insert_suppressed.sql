-- Writes an event that is owed to nobody, with the retention that the catalogue has for its name. A taken
-- dedupe key writes nothing and gives no row.
-- Parameters: those of event_insert, and why (not empty: then its trigger writes nothing).
-- Columns: the new id.
-- Index: unique (dedupe_key), the primary key of owed_event_type.
insert into owed_event (uid, name, version, payload, dedupe_key, occurred_at, recorded_at, due_at,
    actor_key, actor_label, scope, correlation_id, causation_id, traceparent, retention_seconds,
    delete_when, suppressed_reason)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
    (select max(retention_seconds) from owed_event_type where name = $2 and removed_at = 0),
    (select case when max(retention_seconds) is null then coalesce(max(delete_when), '') else '' end
        from owed_event_type where name = $2 and removed_at = 0),
    $15)
on conflict (dedupe_key) do nothing
returning id
