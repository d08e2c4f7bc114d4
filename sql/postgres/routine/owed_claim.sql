-- Takes rows that were picked and locked, and reads them with their events, in the order of the ids. The
-- columns are those of before, as owed_fetch has them. Rows that somebody was lost with go alone, or so many
-- together and no others, and payloads have a bound above the first: what does not fit stays as it is. So does
-- a row whose event is gone; it comes back with nulls for it.
--
-- claimed_at always grows, also under a clock that stands still or goes back: no two claims of one row
-- have the same fence. A lapsed lease is a loss, one at the epoch was handed back.
create or replace function owed_claim(ids bigint[], claimed_by text, now timestamptz,
    lease_until timestamptz, max_bytes bigint, most_lost bigint)
returns table (id bigint, status text, claimed_at timestamptz, lease_expires_at timestamptz,
    losses integer, event_id bigint, receiver_key text, target text, lane text, attempts integer,
    max_attempts integer, available_at timestamptz, due_at timestamptz, uid bytea, name text,
    version integer, payload json, occurred_at timestamptz, recorded_at timestamptz, actor_key text,
    actor_label text, scope text, correlation_id text, traceparent text)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
    if cardinality($1) = 0 then
        return;
    end if;
    return query with found as (
            select picked.place, d.*, e.uid, e.name, e.version, e.payload, e.occurred_at,
                e.recorded_at, e.actor_key, e.actor_label, e.scope, e.correlation_id, e.traceparent,
                d.losses + (d.status = 'claimed'
                    and d.lease_expires_at > timestamptz 'epoch')::integer as lost
            from unnest($1) with ordinality as picked (id, place)
            cross join lateral (
                select * from owed_delivery as row where row.id = picked.id offset 0) as d
            left join lateral (
                select * from owed_event as row where row.id = d.event_id offset 0) as e on true
        ), measured as materialized (
            select f.*, f.uid is null as is_gone,
                count(f.uid) over queue = 1 or (sum(octet_length(f.payload::text)) over queue <= $5
                    and (not coalesce(bool_or(f.lost > 0) filter (where f.uid is not null) over queue, false)
                        or (bool_and(f.lost > 0) filter (where f.uid is not null) over queue
                            and count(f.uid) over queue <= $6))) as fits
            from found as f
            window queue as (order by f.place)
        ), taken as (
            update owed_delivery as d
            set losses = d.losses + (d.status = 'claimed'
                    and d.lease_expires_at > timestamptz 'epoch')::integer,
                status = 'claimed', claimed_by = $2,
                claimed_at = greatest($3, d.claimed_at + interval '1 microsecond'),
                lease_expires_at = $4
            where d.id = any (array(select m.id from measured as m where m.fits and not m.is_gone))
        )
        select m.id, m.status, m.claimed_at, m.lease_expires_at, m.losses, m.event_id,
            m.receiver_key, m.target, m.lane, m.attempts, m.max_attempts, m.available_at, m.due_at,
            m.uid, m.name, m.version, m.payload, m.occurred_at, m.recorded_at, m.actor_key,
            m.actor_label, m.scope, m.correlation_id, m.traceparent
        from measured as m
        where m.fits or m.is_gone
        order by m.place;
end
$$;
