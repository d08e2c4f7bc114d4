-- When can the next row of these lanes be claimed, of all receivers or of some? Null: there is none.
create or replace function owed_next_due(lanes text[], kind text, receivers text[])
returns timestamptz
language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    due timestamptz;
    lapse timestamptz;
begin
    if receivers is null then
        select min(first.available_at) into due
        from unnest($1) as wanted_lane (name) cross join lateral (
            select d.available_at from owed_delivery as d
            where d.status in ('pending', 'failed') and d.lane = wanted_lane.name and d.kind = $2
            order by d.available_at limit 1) as first;
    else
        select min(first.available_at) into due
        from unnest($1) as wanted_lane (name) cross join unnest($3) as wanted_receiver (key)
        cross join lateral (
            select d.available_at from owed_delivery as d
            where d.status in ('pending', 'failed') and d.receiver_key = wanted_receiver.key
            and d.lane = wanted_lane.name and d.kind = $2
            order by d.available_at limit 1) as first;
    end if;
    select min(first.lease_expires_at) into lapse
    from unnest($1) as wanted_lane (name) cross join lateral (
        select d.lease_expires_at from owed_delivery as d
        where d.status = 'claimed' and d.lane = wanted_lane.name and d.kind = $2
        and ($3 is null or d.receiver_key = any ($3))
        order by d.lease_expires_at limit 1) as first;
    -- A lease that ends this moment still holds.
    return least(due, case lapse when timestamptz 'epoch' then lapse
        else lapse + interval '1 microsecond' end);
end
$$;
