-- Picks and locks what can be claimed of one lane, in the order of the queue: rows that are due, and
-- claimed ones whose lease is over (one that ends this moment still holds). Rows that others are
-- claiming are stepped over. With a mark, what was due before it is left out, and of the claimed ones all
-- but what was handed back: the index need not be read over what was claimed since the last vacuum. The
-- settings keep the plan whatever the statistics say.
create or replace function owed_pick_lane(lane text, kind text, now timestamptz, most bigint,
    mark timestamptz)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
set plan_cache_mode = force_generic_plan as $$
declare
    since constant timestamptz := coalesce(mark, '-infinity');
    lapsed constant bigint[] := array(
        select d.id from owed_delivery as d
        where d.status = 'claimed' and d.lane = $1 and d.kind = $2
        and d.lease_expires_at < case when mark is null then $3 else timestamptz 'epoch' + interval '1 microsecond' end
        order by d.available_at, d.id limit $4 for no key update skip locked);
begin
    if cardinality(lapsed) = 0 then
        return query select d.id from owed_delivery as d
            where d.status in ('pending', 'failed') and d.lane = $1 and d.kind = $2
            and d.available_at >= since and d.available_at <= $3
            order by d.available_at, d.id limit $4 for no key update skip locked;
        return;
    end if;
    return query select picked.id from (
            select d.available_at, d.id from owed_delivery as d where d.id = any (lapsed)
            union all
            select due.available_at, due.id from (
                select d.available_at, d.id from owed_delivery as d
                where d.status in ('pending', 'failed') and d.lane = $1 and d.kind = $2
                and d.available_at >= since and d.available_at <= $3
                order by d.available_at, d.id limit $4 for no key update skip locked) as due
        ) as picked
        order by picked.available_at, picked.id limit $4;
end
$$;
