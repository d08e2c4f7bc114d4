-- What is written to a row that is still held under its fence: a row comes back, or none. The row is
-- found by its id, not by the index of what is claimed (which a status with '' added keeps away): how
-- many rows are claimed is what statistics know least about.

-- Moves the end of a lease (to the epoch: hands the row back), adding losses, unless it was handed back.
create or replace function owed_renew(id bigint, claimed_by text, claimed_at timestamptz,
    lease_until timestamptz, losses integer)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query update owed_delivery as d
        set lease_expires_at = $4, losses = greatest(d.losses + $5, -1)
        where d.id = $1 and d.status || '' = 'claimed' and d.claimed_by = $2 and d.claimed_at = $3
        and d.lease_expires_at > timestamptz 'epoch'
        returning d.id;
end
$$;

-- Moves a claim to who was handed it.
create or replace function owed_take(id bigint, claimed_by text, claimed_at timestamptz, taken_by text,
    taken_at timestamptz, lease_until timestamptz)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query update owed_delivery as d
        set claimed_by = $4, claimed_at = $5, lease_expires_at = $6, losses = d.losses + 1
        where d.id = $1 and d.status || '' = 'claimed' and d.claimed_by = $2 and d.claimed_at = $3
        returning d.id;
end
$$;

-- Ends a row whose targets are owed now.
create or replace function owed_expanded(id bigint, claimed_by text, claimed_at timestamptz)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query delete from owed_delivery as d
        where d.id = $1 and d.status || '' = 'claimed' and d.claimed_by = $2 and d.claimed_at = $3
        returning d.id;
end
$$;

-- Writes the outcome of an attempt. See query/settle.sql.
create or replace function owed_settle(id bigint, claimed_by text, claimed_at timestamptz, status text,
    attempts bigint, available_at timestamptz, last_error text, completed_at timestamptz,
    succeeded_at timestamptz)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query update owed_delivery as d
        set status = $4, attempts = $5, losses = 0, completed_at = $8,
            last_error = case $4 when 'pending' then d.last_error else $7 end,
            available_at = case when $4 in ('failed', 'pending') then $6 else d.available_at end,
            due_at = case $4 when 'pending' then $6 else d.due_at end,
            succeeded_at = case $9 when timestamptz 'epoch' then d.succeeded_at else $9 end,
            lease_expires_at = timestamptz 'epoch'
        where d.id = $1 and d.status || '' = 'claimed' and d.claimed_by = $2 and d.claimed_at = $3
        returning d.id;
end
$$;

-- Drops a delivery's oldest attempts beyond so many.
create or replace function owed_trim_attempts(delivery bigint, stay bigint)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query delete from owed_attempt as a
        where a.delivery_id = $1 and a.id <= (
            select last.id from owed_attempt as last
            where last.delivery_id = $1 order by last.id desc limit 1 offset $2)
        returning a.id;
end
$$;
