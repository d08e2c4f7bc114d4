-- Claims what is due in one lane, in the order of the queue, as owed_pick and owed_claim do: rows and their
-- events are read once, where they are locked. That is so while no lease is over there, nobody was lost with
-- any of the rows, and their payloads fit; else those two do it. A row whose event is gone comes back with
-- nulls for it, and stays as it is.
create or replace function owed_claim_lane(in_lane text, in_kind text, now timestamptz, most bigint,
    mark timestamptz, by_whom text, lease_until timestamptz, max_bytes bigint,
    most_lost bigint)
returns table (id bigint, status text, claimed_at timestamptz, lease_expires_at timestamptz,
    losses integer, event_id bigint, receiver_key text, target text, lane text, attempts integer,
    max_attempts integer, available_at timestamptz, due_at timestamptz, uid bytea, name text,
    version integer, payload json, occurred_at timestamptz, recorded_at timestamptz, actor_key text,
    actor_label text, scope text, correlation_id text, traceparent text)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_sort = off set jit = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    since constant timestamptz := coalesce(mark, '-infinity');
    lease_end constant timestamptz := case when mark is null then now
        else timestamptz 'epoch' + interval '1 microsecond' end;
begin
    if not exists (
        select from owed_delivery as d
        where d.status = 'claimed' and d.lane = $1 and d.kind = $2 and d.lease_expires_at < lease_end) then
        return query with picked as materialized (
                select d.id, d.status, d.claimed_at, d.lease_expires_at, d.losses, d.event_id,
                    d.receiver_key, d.target, d.lane, d.attempts, d.max_attempts, d.available_at,
                    d.due_at, e.uid, e.name, e.version, e.payload, e.occurred_at, e.recorded_at,
                    e.actor_key, e.actor_label, e.scope, e.correlation_id, e.traceparent
                from owed_delivery as d
                left join lateral (
                    select * from owed_event as row where row.id = d.event_id offset 0) as e on true
                where d.status in ('pending', 'failed') and d.lane = $1 and d.kind = $2
                and d.available_at >= since and d.available_at <= $3
                order by d.available_at, d.id limit $4 for no key update of d skip locked
            ), plain as materialized (
                select array_agg(p.id) filter (where p.uid is not null) as ids
                from picked as p
                having max(p.losses) <= 0
                and sum(octet_length(p.payload::text)) <= $8
            ), taken as (
                update owed_delivery as d
                set status = 'claimed', claimed_by = $6,
                    claimed_at = greatest($3, d.claimed_at + interval '1 microsecond'),
                    lease_expires_at = $7
                where d.id = any ((select p.ids from plain as p)::bigint[])
            )
            select p.* from picked as p where exists (select from plain);
        if found then
            return;
        end if;
    end if;
    return query select * from owed_claim(array(
        select owed_pick(array[$1], $2, $3, $4, null, null, $5)), $6, $3, $7, $8, $9);
end
$$;
