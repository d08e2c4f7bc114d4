-- Picks and locks what one call may claim before its time, in the order of the queue. Leases end by the
-- clock, whatever the call takes for now; what is due later is left, also where backoff is ignored.
create or replace function owed_pick_early(lanes text[], kind text, now timestamptz, most bigint,
    receivers text[], due_until timestamptz, ignore_backoff boolean, but_ids bigint[],
    but_targets text[])
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_sort = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query select d.id from owed_delivery as d
        where d.id = any (array(
            select found.id from unnest($1) as wanted_lane (name) cross join lateral (
                (select due.id from owed_delivery as due
                where due.status in ('pending', 'failed') and due.lane = wanted_lane.name
                and due.kind = $2
                order by due.available_at, due.id offset 0)
                union all
                (select lapsed.id from owed_delivery as lapsed
                where lapsed.status = 'claimed' and lapsed.lane = wanted_lane.name
                and lapsed.kind = $2 and lapsed.lease_expires_at < $3
                order by lapsed.lease_expires_at, lapsed.id offset 0)) as found))
        and d.receiver_key = any ($5) and d.id <> all ($8)
        and encode(d.target_digest, 'hex') || d.receiver_key <> all ($9)
        and ((d.status in ('pending', 'failed') and d.due_at <= $6
                and (d.available_at <= $6 or ($7 and d.status = 'failed')))
            or (d.status = 'claimed' and d.lease_expires_at < $3))
        order by d.available_at, d.id limit $4 for no key update skip locked;
end
$$;
