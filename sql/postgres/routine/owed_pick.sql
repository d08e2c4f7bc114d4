-- Picks and locks what can be claimed of some lanes, in the order of the queue: rows that are due, and
-- claimed ones whose lease is over (one that ends this moment still holds). Of all receivers or of some,
-- but not of some targets (the digest in small hex digits, followed by the receiver's key): one short index
-- scan for each lane and arm. Only what is taken is locked; where others hold some of it, it looks
-- further. With a mark, what was due before it is left out, and of the claimed ones all but what was handed
-- back: the index need not be read over what was claimed since the last vacuum. The settings keep the plan
-- whatever the statistics say.
create or replace function owed_pick(lanes text[], kind text, now timestamptz, most bigint,
    receivers text[], but_targets text[], mark timestamptz)
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
                cross join lateral (
                    select d.available_at, d.id from owed_delivery as d
                    where d.status in ('pending', 'failed') and d.lane = wanted_lane.name
                    and d.kind = $2 and d.available_at >= since and d.available_at <= $3
                    and ($5 is null or d.receiver_key = any ($5))
                    and ($6 is null
                        or encode(d.target_digest, 'hex') || d.receiver_key <> all ($6))
                    order by d.available_at, d.id limit wanted) as due
                union all
                select lapsed.available_at, lapsed.id from unnest($1) as wanted_lane (name)
                cross join lateral (
                    select d.available_at, d.id from owed_delivery as d
                    where d.status = 'claimed' and d.lane = wanted_lane.name
                    and d.kind = $2 and d.lease_expires_at < lease_end
                    and ($5 is null or d.receiver_key = any ($5))
                    and ($6 is null
                        or encode(d.target_digest, 'hex') || d.receiver_key <> all ($6))
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
