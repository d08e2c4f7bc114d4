-- The same as owed_pick for a relay that can run only some of a lane's receivers: rows of others are
-- stepped over by index, not read. The mark is that of owed_pick.
create or replace function owed_pick_receivers(lanes text[], kind text, now timestamptz, most bigint,
    receivers text[], mark timestamptz)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    wanted bigint := most;
    since constant timestamptz := coalesce(mark, '-infinity');
    lease_end constant timestamptz := case when mark is null then now
        else timestamptz 'epoch' + interval '1 microsecond' end;
    pool bigint[];
    taken bigint[];
begin
    loop
        pool := array(
            select found.id from (
                select due.available_at, due.id from unnest($1) as wanted_lane (name)
                cross join unnest($5) as wanted_receiver (key)
                cross join lateral (
                    select d.available_at, d.id from owed_delivery as d
                    where d.status in ('pending', 'failed')
                    and d.receiver_key = wanted_receiver.key and d.lane = wanted_lane.name
                    and d.kind = $2 and d.available_at >= since and d.available_at <= $3
                    order by d.available_at, d.id limit wanted) as due
                union all
                select lapsed.available_at, lapsed.id from unnest($1) as wanted_lane (name)
                cross join lateral (
                    select d.available_at, d.id from owed_delivery as d
                    where d.status = 'claimed' and d.lane = wanted_lane.name and d.kind = $2
                    and d.lease_expires_at < lease_end and d.receiver_key = any ($5)
                    order by d.available_at, d.id limit wanted) as lapsed
            ) as found
            order by found.available_at, found.id limit wanted);
        exit when cardinality(pool) = 0;
        taken := owed_pick_of(pool, $3, most);
        exit when cardinality(taken) = most or cardinality(pool) < wanted;
        wanted := wanted * 4;
    end loop;
    return query select unnest(taken);
end
$$;
