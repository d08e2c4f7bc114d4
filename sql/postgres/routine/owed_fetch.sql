-- Picked rows with their events, in the order of the ids; an event's columns are null where it is gone.
create or replace function owed_fetch(ids bigint[])
returns table (id bigint, status text, claimed_at timestamptz, lease_expires_at timestamptz,
    losses integer, event_id bigint, receiver_key text, target text, lane text, attempts integer,
    max_attempts integer, available_at timestamptz, due_at timestamptz, uid bytea, name text,
    version integer, payload json, occurred_at timestamptz, recorded_at timestamptz, actor_key text,
    actor_label text, scope text, correlation_id text, traceparent text)
language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
    return query select d.id, d.status, d.claimed_at, d.lease_expires_at, d.losses, d.event_id,
            d.receiver_key, d.target, d.lane, d.attempts, d.max_attempts, d.available_at, d.due_at,
            e.uid, e.name, e.version, e.payload, e.occurred_at, e.recorded_at, e.actor_key,
            e.actor_label, e.scope, e.correlation_id, e.traceparent
        from unnest($1) with ordinality as picked (id, place)
        cross join lateral (select * from owed_delivery as row where row.id = picked.id offset 0) as d
        left join lateral (
            select * from owed_event as row where row.id = d.event_id offset 0) as e on true
        order by picked.place;
end
$$;
