-- Writes the outcome of an attempt, if the row is still held under the fence: a row, or none. See
-- query/settle.sql.
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
        where d.id = $1 and d.status = 'claimed' and d.claimed_by = $2 and d.claimed_at = $3
        returning d.id;
end
$$;
