-- Locks rows that were found, in the order of the queue, up to so many: those that can still be claimed
-- and that nobody else is claiming.
create or replace function owed_pick_of(pool bigint[], now timestamptz, most bigint)
returns bigint[]
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
    return array(
        select d.id from owed_delivery as d
        where d.id = any ($1) and ((d.status in ('pending', 'failed') and d.available_at <= $2)
            or (d.status = 'claimed' and d.lease_expires_at < $2))
        order by d.available_at, d.id limit $3 for no key update skip locked);
end
$$;
