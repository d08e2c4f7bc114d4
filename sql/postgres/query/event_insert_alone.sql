-- Writes an event, and what the catalogue says is owed for it, at half the price of the trigger: for a
-- transaction that does nothing else. Writes nothing and gives no row where that would not be all: there
-- are endpoints, or the firing process declares a receiver that the catalogue does not have for the event. What is
-- owed is owed for the event as it was written: an application's trigger may have changed it.
-- Parameters: those of event_insert, without a dedupe key, and an array: keys of receivers that the firing
-- process declares.
-- Columns: the new id; the number of the open transaction, see xid.
-- Index: owed_receiver_by_event, the primary keys of owed_receiver and owed_event_type.
with fired as (
    insert into owed_event (uid, name, version, payload, dedupe_key, occurred_at, recorded_at, due_at,
        actor_key, actor_label, scope, correlation_id, causation_id, traceparent, retention_seconds,
        delete_when)
    select $1::bytea, $2::text, $3::bigint, $4::text::json, $5::text, $6::timestamptz, $7::timestamptz,
        $8::timestamptz, $9::text, $10::text, $11::text, $12::text, $13::bigint, $14::text,
        kept.seconds, kept.when_done
    from (
        select max(retention_seconds) as seconds,
            case when max(retention_seconds) is null then coalesce(max(delete_when), '') else '' end as when_done
        from owed_event_type where name = $2::text and removed_at = timestamptz 'epoch') as kept
    where owed_owes_itself()
    and not exists (select from owed_receiver where key = 'owed.webhooks' and targets = 'endpoints')
    and (select count(*) from owed_receiver
        where key = any ($15::text[]) and event_name = any (array[$2::text, '*']) and mode = 'durable'
        and removed_at = timestamptz 'epoch') = cardinality($15::text[])
    returning id, name, recorded_at, greatest(due_at, recorded_at) as from_at, suppressed_reason),
owed as (
    insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
        available_at, due_at)
    select fired.id, r.key, '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        r.stored_lane, case r.targets when 'callback' then 'expand' else r.kind end, r.max_attempts,
        fired.from_at + r.due * interval '1 microsecond', fired.from_at + r.due * interval '1 microsecond'
    from fired join owed_receiver as r on r.event_name = any (array[fired.name, '*'])
    where fired.suppressed_reason = '' and r.mode = 'durable'
    and (r.removed_at = timestamptz 'epoch' or r.removed_at > fired.recorded_at - interval '10 minutes'))
select id, pg_current_xact_id_if_assigned()::text::bigint from fired
