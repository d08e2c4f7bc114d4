-- Picks and locks what one call may claim before its time, in the order of the queue. Leases end by the
-- clock, whatever the call takes for now; what is due later is left, also where backoff is ignored.
create or replace function owed_pick_early(lanes text[], kind text, now timestamptz, most bigint,
    receivers text[], due_until timestamptz, ignore_backoff boolean, but_ids bigint[],
    but_targets text[])
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
    return query select d.id from (
            select due.id from unnest($1) as wanted_lane (name)
            join owed_delivery as due on due.lane = wanted_lane.name
            where due.status in ('pending', 'failed') and due.kind = $2
            union all
            select lapsed.id from unnest($1) as wanted_lane (name)
            join owed_delivery as lapsed on lapsed.lane = wanted_lane.name
            where lapsed.status = 'claimed' and lapsed.kind = $2 and lapsed.lease_expires_at < $3
        ) as found
        join owed_delivery as d on d.id = found.id
        where d.receiver_key = any ($5) and d.id <> all ($8)
        and encode(d.target_digest, 'hex') || d.receiver_key <> all ($9)
        and ((d.status in ('pending', 'failed') and d.due_at <= $6
                and (d.available_at <= $6 or ($7 and d.status = 'failed')))
            or (d.status = 'claimed' and d.lease_expires_at < $3))
        order by d.available_at, d.id limit $4 for no key update of d skip locked;
end
$$;
