-- Writes an event that is owed to nobody, with the retention that the catalogue has for its name. A taken
-- dedupe key writes nothing and gives no row.
-- Parameters: those of event_insert, and why (not empty: then its trigger writes nothing).
-- Columns: the new id.
-- Index: unique (dedupe_key), the primary key of owed_event_type.
insert into owed_event (uid, name, version, payload, dedupe_key, occurred_at, recorded_at, due_at,
    actor_key, actor_label, scope, correlation_id, causation_id, traceparent, retention_seconds,
    delete_when, suppressed_reason)
select $1::bytea, $2::text, $3::bigint, $4::text::json, $5::text, $6::timestamptz, $7::timestamptz,
    $8::timestamptz, $9::text, $10::text, $11::text, $12::text, $13::bigint, $14::text,
    kept.seconds, kept.when_done, $15::text
from (
    select max(retention_seconds) as seconds,
        case when max(retention_seconds) is null then coalesce(max(delete_when), '') else '' end as when_done
    from owed_event_type where name = $2::text and removed_at = timestamptz 'epoch') as kept
on conflict (dedupe_key) do nothing
returning id
