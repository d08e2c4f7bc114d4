-- Writes the outcomes of several attempts, and what is kept of them: the place in the list, from 1, of
-- each whose row was still held under its fence. See query/settle.sql; times are microseconds here.
create or replace function owed_settle_all(outcomes json)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query with given as materialized (
            select listed.place, o.id, o.claimed_by, o.status, o.attempts, o.last_error, o.verdict,
                o.attempt, o.duration, o.code, o.error, o.excerpt,
                timestamptz 'epoch' + o.claimed_at * interval '1 microsecond' as claimed_at,
                timestamptz 'epoch' + o.available_at * interval '1 microsecond' as available_at,
                timestamptz 'epoch' + o.completed_at * interval '1 microsecond' as completed_at,
                timestamptz 'epoch' + o.succeeded_at * interval '1 microsecond' as succeeded_at,
                timestamptz 'epoch' + o.started_at * interval '1 microsecond' as started_at
            from json_array_elements($1) with ordinality as listed (outcome, place)
            cross join lateral json_to_record(listed.outcome) as o (id bigint, claimed_by text,
                claimed_at bigint, status text, attempts integer, available_at bigint,
                last_error text, completed_at bigint, succeeded_at bigint, verdict text,
                attempt integer, started_at bigint, duration bigint, code integer, error text,
                excerpt text)
        ), settled as (
            update owed_delivery as d
            set status = g.status, attempts = g.attempts, losses = 0, completed_at = g.completed_at,
                last_error = case g.status when 'pending' then d.last_error else g.last_error end,
                available_at = case when g.status in ('failed', 'pending') then g.available_at
                    else d.available_at end,
                due_at = case g.status when 'pending' then g.available_at else d.due_at end,
                succeeded_at = case g.succeeded_at when timestamptz 'epoch' then d.succeeded_at
                    else g.succeeded_at end,
                lease_expires_at = timestamptz 'epoch'
            from given as g
            where d.id = any (array(select given.id from given)) and d.id = g.id
            and d.status || '' = 'claimed' and d.claimed_by = g.claimed_by
            and d.claimed_at = g.claimed_at
            returning g.*
        ), kept as (
            insert into owed_attempt (delivery_id, attempt, started_at, duration, verdict, code,
                error, excerpt)
            select s.id, s.attempt, s.started_at, s.duration, s.verdict, s.code, s.error, s.excerpt
            from settled as s where s.verdict is not null
            order by s.place
        )
        select s.place from settled as s;
end
$$;
