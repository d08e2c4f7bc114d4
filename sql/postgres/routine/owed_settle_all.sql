-- Writes the outcomes of several attempts, and what is kept of them: 0 where all of them were still held under
-- their fences, else the place in the arrays, from 1, of each that was. See query/settle.sql. Where all are
-- successes of who claimed the first, and nothing or of each the attempt is kept, it is told in fewer
-- arrays: see query/settle_all.sql.
create or replace function owed_settle_all(ids bigint[], claimed_by text[], claimed_at timestamptz[],
    status text[], attempts bigint[], completed_at timestamptz[], succeeded_at timestamptz[],
    available_at timestamptz[], last_error text[], verdict text[], attempt bigint[],
    started_at timestamptz[], duration bigint[], code bigint[], error text[], excerpt text[])
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    by_whom constant text := ($2)[1];
    kept_verdict constant text := ($10)[1];
    never constant timestamptz := timestamptz 'epoch';
    landed bigint[];
begin
    if $4 = '{}' and $10 = '{}' then
        with settled as (
            update owed_delivery as d
            set status = 'succeeded', attempts = g.attempts, losses = 0, last_error = '',
                completed_at = g.succeeded_at, succeeded_at = g.succeeded_at, lease_expires_at = never
            from unnest($1, $3, $5, $7)
                with ordinality as g (id, claimed_at, attempts, succeeded_at, place)
            where d.id = g.id and d.status || '' = 'claimed' and d.claimed_by = by_whom
            and d.claimed_at = g.claimed_at
            returning g.place)
        select array_agg(s.place) into landed from settled as s;
    elsif $4 = '{}' then
        with settled as (
            update owed_delivery as d
            set status = 'succeeded', attempts = g.attempts, losses = 0, last_error = '',
                completed_at = g.succeeded_at, succeeded_at = g.succeeded_at, lease_expires_at = never
            from unnest($1, $3, $5, $7, $12, $13, $14, $16) with ordinality as g (id, claimed_at,
                attempts, succeeded_at, started_at, duration, code, excerpt, place)
            where d.id = g.id and d.status || '' = 'claimed' and d.claimed_by = by_whom
            and d.claimed_at = g.claimed_at
            returning g.place, g.id, g.attempts, g.started_at, g.duration, g.code, g.excerpt
        ), kept as (
            insert into owed_attempt (delivery_id, attempt, started_at, duration, verdict, code, excerpt)
            select s.id, s.attempts, s.started_at, s.duration, kept_verdict, s.code, s.excerpt
            from settled as s
            order by s.place)
        select array_agg(s.place) into landed from settled as s;
    else
        with settled as (
            update owed_delivery as d
            set status = g.status, attempts = g.attempts, losses = 0, completed_at = g.completed_at,
                last_error = case g.status when 'pending' then d.last_error
                    else coalesce(g.last_error, '') end,
                available_at = case when g.status in ('failed', 'pending') then g.available_at
                    else d.available_at end,
                due_at = case g.status when 'pending' then g.available_at else d.due_at end,
                succeeded_at = case g.succeeded_at when never then d.succeeded_at
                    else g.succeeded_at end,
                lease_expires_at = never
            from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
                with ordinality as g (id, claimed_by, claimed_at, status, attempts, completed_at,
                succeeded_at, available_at, last_error, verdict, attempt, started_at, duration,
                code, error, excerpt, place)
            where d.id = g.id and d.status || '' = 'claimed' and d.claimed_by = g.claimed_by
            and d.claimed_at = g.claimed_at
            returning g.*
        ), kept as (
            insert into owed_attempt (delivery_id, attempt, started_at, duration, verdict, code,
                error, excerpt)
            select s.id, s.attempt, s.started_at, s.duration, s.verdict, s.code, s.error, s.excerpt
            from settled as s where s.verdict is not null
            order by s.place)
        select array_agg(s.place) into landed from settled as s;
    end if;
    if cardinality(landed) = cardinality($1) then
        return next 0;
    else
        return query select unnest(landed);
    end if;
end
$$;
