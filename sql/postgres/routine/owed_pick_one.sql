-- Picks and locks one row, if it is owed, due, and held by nobody.
create or replace function owed_pick_one(id bigint, now timestamptz)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query select d.id from owed_delivery as d
        where d.id = $1 and ((d.status = 'pending' and d.due_at <= $2)
            or (d.status = 'failed' and d.available_at <= $2)
            or (d.status = 'claimed' and d.lease_expires_at < $2))
        for no key update skip locked;
end
$$;
