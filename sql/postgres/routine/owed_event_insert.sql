-- Writes an event, by whose trigger the catalogue owes it to its receivers, and then owes it to
-- receivers that the firing process declares and the catalogue may not know. Gives the event's id; null:
-- its dedupe key is taken, and nothing was written.
create or replace function owed_event_insert(uid bytea, name text, version bigint, payload text,
    dedupe_key text, occurred_at timestamptz, recorded_at timestamptz, due_at timestamptz,
    actor_key text, actor_label text, scope text, correlation_id text, causation_id bigint,
    traceparent text, own_key text[], own_lane text[], own_kind text[], own_max_attempts bigint[],
    own_due bigint[])
returns bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    event bigint;
begin
    insert into owed_event (uid, name, version, payload, dedupe_key, occurred_at, recorded_at, due_at,
        actor_key, actor_label, scope, correlation_id, causation_id, traceparent, retention_seconds,
        delete_when)
    select $1, $2, $3, $4::json, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, kept.seconds,
        kept.when_done
    from (
        select max(retention_seconds) as seconds,
            case when max(retention_seconds) is null then coalesce(max(delete_when), '') else '' end as when_done
        from owed_event_type where name = $2 and removed_at = timestamptz 'epoch') as kept
    on conflict (dedupe_key) do nothing
    returning id into event;
    if event is null then
        return null;
    end if;
    -- Nearly always the catalogue has them all, and to see that is far cheaper than to insert nothing.
    perform from unnest($15) as o (key)
    where not exists (
        select from owed_delivery as d where d.event_id = event and d.receiver_key = o.key
        and d.target_digest = '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    if not found then
        return event;
    end if;
    insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
        available_at, due_at)
    select event, o.key, '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', o.lane,
        o.kind, o.max_attempts, $8 + o.due * interval '1 microsecond',
        $8 + o.due * interval '1 microsecond'
    from unnest($15, $16, $17, $18, $19) as o (key, lane, kind, max_attempts, due)
    on conflict (event_id, receiver_key, target_digest) do nothing;
    return event;
end
$$;
