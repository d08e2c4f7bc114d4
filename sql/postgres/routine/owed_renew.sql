-- Moves the end of a lease (to the epoch: hands the row back), adding losses, if the row is still held
-- under the fence and was not handed back: a row, or none.
create or replace function owed_renew(id bigint, claimed_by text, claimed_at timestamptz,
    lease_expires_at timestamptz, losses integer)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query update owed_delivery as d
        set lease_expires_at = $4, losses = d.losses + $5
        where d.id = $1 and d.status = 'claimed' and d.claimed_by = $2 and d.claimed_at = $3
        and d.lease_expires_at > timestamptz 'epoch'
        returning d.id;
end
$$;
