-- Writes several events at once: of each argument up to traceparent the element of an event's place. They are
-- owed to the catalogue's receivers, and to receivers that the firing process declares, each for events of a
-- name, and that the catalogue may not know. Gives each event's id, in order. An event whose dedupe key is
-- taken, be it by one before it, is not written: the id is that of the event that has the key, or null where
-- there is none any more.
create or replace function owed_events_insert(uid bytea[], name text[], version bigint[], payload text[],
    dedupe_key text[], occurred_at timestamptz[], recorded_at timestamptz[], due_at timestamptz[],
    actor_key text[], actor_label text[], scope text[], correlation_id text[], causation_id bigint[],
    traceparent text[], own_name text[], own_key text[], own_lane text[], own_kind text[],
    own_max_attempts bigint[], own_due bigint[])
returns table (id bigint, is_new boolean)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off set jit = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    uids bytea[];
    ids bigint[];
    new_ids bigint[];
    first_id bigint;
    last_id bigint;
    is_owed boolean := false;
begin
    -- Nearly always none has a dedupe key, and all that is owed is in the catalogue and goes to no endpoint:
    -- then one statement writes both, at three quarters of the price, and the trigger stands aside for it. Otherwise
    -- it writes nothing. What is owed is what the trigger would owe.
    if array_remove($5, null) = '{}' then
        with fired as (
            insert into owed_event (uid, name, version, payload, occurred_at, recorded_at, due_at, actor_key,
                actor_label, scope, correlation_id, causation_id, traceparent, retention_seconds, delete_when)
            select $1[place], $2[place], $3[place], $4[place]::json, $6[place], $7[place], $8[place], $9[place],
                $10[place], $11[place], $12[place], $13[place], $14[place], kept.seconds,
                coalesce(kept.when_done, '')
            from generate_series(1, cardinality($1)) as place
            left join (
                select t.name, max(t.retention_seconds) as seconds,
                    case when max(t.retention_seconds) is null then max(t.delete_when) end as when_done
                from owed_event_type as t
                where t.name = any ($2) and t.removed_at = timestamptz 'epoch'
                group by t.name) as kept on kept.name = $2[place]
            where (select case
                when exists (select from owed_receiver where key = 'owed.webhooks' and targets = 'endpoints')
                    or exists (select from unnest($15, $16) as o (name, key)
                        where (select count(*) from owed_receiver as r -- by its key, whatever the catalogue's size
                            where r.key = o.key and r.event_name = any (array[o.name, '*']) and r.mode = 'durable'
                            and r.targets <> 'endpoints' and r.removed_at = timestamptz 'epoch') = 0) then false
                else owed_owes_itself() end)
            order by place
            returning id, uid, name, recorded_at, greatest(due_at, recorded_at) as from_at, suppressed_reason),
        listed as materialized (
            select n.name, r.key, r.stored_lane, case r.targets when 'callback' then 'expand' else r.kind end as kind,
                r.max_attempts, r.due * interval '1 microsecond' as due,
                case r.removed_at when timestamptz 'epoch' then timestamptz 'infinity'
                    else r.removed_at + interval '10 minutes' end as until
            from (select distinct fired.name from fired) as n
            join owed_receiver as r on r.event_name = any (array[n.name, '*'])
            where r.mode = 'durable' and r.targets <> 'endpoints'),
        owed as (
            insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
                available_at, due_at)
            select fired.id, l.key, '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
                l.stored_lane, l.kind, l.max_attempts, fired.from_at + l.due, fired.from_at + l.due
            from fired join listed as l on l.name = fired.name
            where fired.suppressed_reason = '' and fired.recorded_at < l.until
            order by fired.id)
        select array_agg(id), array_agg(uid) into ids, uids from fired;
        is_owed := coalesce(current_setting('owed.owes_itself', true), '') = 'yes';
        perform set_config('owed.owes_itself', '', true);
    end if;
    if not is_owed then
        with written as (
            insert into owed_event (uid, name, version, payload, dedupe_key, occurred_at, recorded_at,
                due_at, actor_key, actor_label, scope, correlation_id, causation_id, traceparent,
                retention_seconds, delete_when)
            select g.uid, g.name, g.version, g.payload::json, g.dedupe_key, g.occurred_at, g.recorded_at,
                g.due_at, g.actor_key, g.actor_label, g.scope, g.correlation_id, g.causation_id,
                g.traceparent, kept.seconds, coalesce(kept.when_done, '')
            from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) with ordinality
                as g (uid, name, version, payload, dedupe_key, occurred_at, recorded_at, due_at, actor_key,
                actor_label, scope, correlation_id, causation_id, traceparent, place)
            left join (
                select t.name, max(t.retention_seconds) as seconds,
                    case when max(t.retention_seconds) is null then max(t.delete_when) end as when_done
                from owed_event_type as t
                where t.name = any ($2) and t.removed_at = timestamptz 'epoch'
                group by t.name) as kept on kept.name = g.name
            order by g.place
            on conflict (dedupe_key) do nothing
            returning id, uid)
        select array_agg(w.id order by w.id), array_agg(w.uid order by w.id), min(w.id), max(w.id)
        into ids, uids, first_id, last_id
        from written as w;
    end if;
    new_ids := ids;
    if uids is distinct from $1 then
        select array_agg(w.id order by g.place),
            array_agg(coalesce(w.id, (select e.id from owed_event as e
                where e.dedupe_key = g.dedupe_key)) order by g.place)
        into new_ids, ids
        from unnest($1, $5) with ordinality as g (uid, dedupe_key, place)
        left join unnest(ids, uids) as w (id, uid) on w.uid = g.uid;
    end if;

    -- Nearly always the catalogue has them all, and to see that is far cheaper than to insert nothing: by
    -- one walk over what is owed for these events, not a look for each of them.
    if not is_owed and cardinality($16) > 0 then
        perform from unnest(new_ids, $2) as g (id, name)
        join unnest($15, $16) as o (name, key) on o.name = g.name
        where g.id is not null and not exists (
            select from owed_delivery as d
            where d.event_id between first_id and last_id and d.event_id = g.id
            and d.receiver_key = o.key
            and d.target_digest = '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
        if found then
            insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
                available_at, due_at)
            select g.id, o.key, '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
                o.lane, o.kind, o.max_attempts, g.due_at + o.due * interval '1 microsecond',
                g.due_at + o.due * interval '1 microsecond'
            from unnest(new_ids, $2, $8) with ordinality as g (id, name, due_at, place)
            join unnest($15, $16, $17, $18, $19, $20) with ordinality
                as o (name, key, lane, kind, max_attempts, due, place) on o.name = g.name
            where g.id is not null
            order by g.place, o.place
            on conflict (event_id, receiver_key, target_digest) do nothing;
        end if;
    end if;
    return query select ids[place], new_ids[place] is not null
        from generate_series(1, cardinality(ids)) as place order by place;
end
$$;
