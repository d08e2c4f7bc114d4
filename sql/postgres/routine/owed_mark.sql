-- Takes picked rows, a row for each. claimed_at always grows, also under a clock that stands still or
-- goes back: no two claims of one row have the same fence. A lapsed lease is a loss, one at the epoch
-- was handed back.
create or replace function owed_mark(ids bigint[], claimed_by text, now timestamptz,
    lease_expires_at timestamptz)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query update owed_delivery as d
        set losses = d.losses
                + (d.status = 'claimed' and d.lease_expires_at > timestamptz 'epoch')::integer,
            status = 'claimed', claimed_by = $2,
            claimed_at = greatest($3, d.claimed_at + interval '1 microsecond'),
            lease_expires_at = $4
        where d.id = any ($1)
        returning d.id;
end
$$;
