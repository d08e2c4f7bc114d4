-- Writes an event, and what the catalogue says is owed for it, at half the price of the trigger: for a
-- transaction that does nothing else. Writes nothing and gives no row where that would not be all: there
-- are endpoints, or the firing process declares a receiver that the catalogue does not have for the event.
-- Parameters: those of event_insert, without a dedupe key, and an array: keys of receivers that the firing
-- process declares.
-- Columns: the new id; the number of the open transaction, see xid.
-- Index: owed_receiver_by_event, the primary key of owed_event_type.
with listed as materialized (
    select key, targets, stored_lane, case targets when 'callback' then 'expand' else kind end as kind,
        max_attempts, greatest($8::timestamptz, $7::timestamptz) + due * interval '1 microsecond' as due_at
    from owed_receiver
    where event_name = any (array[$2::text, '*']) and mode = 'durable'
    and (removed_at = timestamptz 'epoch' or removed_at > $7::timestamptz - interval '10 minutes')),
fired as (
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
    where owed_owes_itself() and not exists (select from listed where targets = 'endpoints')
    and (select count(*) from listed where key = any ($15::text[])) = cardinality($15::text[])
    returning id),
owed as (
    insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
        available_at, due_at)
    select fired.id, key, '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        stored_lane, kind, max_attempts, due_at, due_at
    from fired cross join listed)
select id, pg_current_xact_id_if_assigned()::text::bigint from fired
