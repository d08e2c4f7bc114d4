-- Writes the outcomes of several attempts, and what is kept of them: the place in the arrays, from 1, of
-- each whose row was still held under its fence. See query/settle.sql; times are microseconds here. Where
-- all are successes of who claimed the first, and nothing or of each the attempt is kept, it is told in fewer
-- arrays: see query/settle_all.sql.
create or replace function owed_settle_all(ids bigint[], claimed_by text[], claimed_at bigint[],
    status text[], attempts integer[], completed_at bigint[], succeeded_at bigint[],
    available_at bigint[], last_error text[], verdict text[], attempt integer[], started_at bigint[],
    duration bigint[], code integer[], error text[], excerpt text[])
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
    if $4 = '{}' and $10 = '{}' then
        return query update owed_delivery as d
            set status = 'succeeded', attempts = g.attempts, losses = 0, last_error = '',
                completed_at = g.moment, succeeded_at = g.moment, lease_expires_at = timestamptz 'epoch'
            from (
                select given.id, given.attempts, given.place,
                    timestamptz 'epoch' + given.claimed_at * interval '1 microsecond' as claimed_at,
                    timestamptz 'epoch' + given.succeeded_at * interval '1 microsecond' as moment
                from unnest($1, $3, $5, $7)
                    with ordinality as given (id, claimed_at, attempts, succeeded_at, place)) as g
            where d.id = g.id and d.status || '' = 'claimed' and d.claimed_by = ($2)[1]
            and d.claimed_at = g.claimed_at
            returning g.place;
        return;
    end if;
    if $4 = '{}' then
        return query with settled as (
                update owed_delivery as d
                set status = 'succeeded', attempts = g.attempts, losses = 0, last_error = '',
                    completed_at = timestamptz 'epoch' + g.succeeded_at * interval '1 microsecond',
                    succeeded_at = timestamptz 'epoch' + g.succeeded_at * interval '1 microsecond',
                    lease_expires_at = timestamptz 'epoch'
                from unnest($1, $3, $5, $7, $12, $13, $14, $16) with ordinality as g (id, claimed_at,
                    attempts, succeeded_at, started_at, duration, code, excerpt, place)
                where d.id = g.id and d.status || '' = 'claimed' and d.claimed_by = ($2)[1]
                and d.claimed_at = timestamptz 'epoch' + g.claimed_at * interval '1 microsecond'
                returning g.place, g.id, g.attempts, g.started_at, g.duration, g.code, g.excerpt
            ), kept as (
                insert into owed_attempt (delivery_id, attempt, started_at, duration, verdict, code,
                    excerpt)
                select s.id, s.attempts,
                    timestamptz 'epoch' + s.started_at * interval '1 microsecond', s.duration,
                    ($10)[1], s.code, s.excerpt
                from settled as s
                order by s.place
            )
            select s.place from settled as s;
        return;
    end if;
    return query with settled as (
            update owed_delivery as d
            set status = g.status, attempts = g.attempts, losses = 0,
                completed_at = timestamptz 'epoch' + g.completed_at * interval '1 microsecond',
                last_error = case g.status when 'pending' then d.last_error
                    else coalesce(g.last_error, '') end,
                available_at = case when g.status in ('failed', 'pending')
                    then timestamptz 'epoch' + g.available_at * interval '1 microsecond'
                    else d.available_at end,
                due_at = case g.status when 'pending'
                    then timestamptz 'epoch' + g.available_at * interval '1 microsecond'
                    else d.due_at end,
                succeeded_at = case g.succeeded_at when 0 then d.succeeded_at
                    else timestamptz 'epoch' + g.succeeded_at * interval '1 microsecond' end,
                lease_expires_at = timestamptz 'epoch'
            from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
                with ordinality as g (id, claimed_by, claimed_at, status, attempts, completed_at,
                succeeded_at, available_at, last_error, verdict, attempt, started_at, duration,
                code, error, excerpt, place)
            where d.id = g.id and d.status || '' = 'claimed' and d.claimed_by = g.claimed_by
            and d.claimed_at = timestamptz 'epoch' + g.claimed_at * interval '1 microsecond'
            returning g.*
        ), kept as (
            insert into owed_attempt (delivery_id, attempt, started_at, duration, verdict, code,
                error, excerpt)
            select s.id, s.attempt,
                timestamptz 'epoch' + s.started_at * interval '1 microsecond', s.duration,
                s.verdict, s.code, s.error, s.excerpt
            from settled as s where s.verdict is not null
            order by s.place
        )
        select s.place from settled as s;
end
$$;
