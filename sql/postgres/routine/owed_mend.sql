-- What a relay does now and then about owed rows that the catalogue has left behind.

-- Lets rows follow their receivers to the lane and kind that the catalogue says; those that a
-- transaction is at work on, next time. A row of a side lane ("app/+name") stays in it; while its receiver is
-- paused that one is "app/!+name".
create or replace function owed_move(ids bigint[])
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_sort = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query update owed_delivery as d
        set lane = case when not starts_with(replace(d.lane, '/!+', '/+'), r.app || '/+') then r.stored_lane
            when r.paused_at > timestamptz 'epoch' then replace(d.lane, '/+', '/!+') else replace(d.lane, '/!+', '/+') end,
            kind = case when d.kind = 'expand' and r.targets = 'callback' then 'expand' else r.kind end
        from owed_receiver as r
        where r.key = d.receiver_key and d.id = any (array(
            select free.id from owed_delivery as free
            where free.id = any ($1) and free.status in ('pending', 'failed', 'claimed')
            order by free.id for no key update skip locked))
        returning d.id;
end
$$;

-- Ends owed rows as orphaned, but for those that somebody holds.
create or replace function owed_orphan(ids bigint[], now timestamptz, sentence text)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_sort = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query update owed_delivery as d
        set status = 'orphaned', completed_at = $2, last_error = $3,
            lease_expires_at = timestamptz 'epoch'
        where d.id = any (array(
            select free.id from owed_delivery as free
            where free.id = any ($1) and (free.status in ('pending', 'failed')
                or (free.status = 'claimed' and free.lease_expires_at < $2))
            order by free.id for no key update skip locked))
        returning d.id;
end
$$;

-- Owed rows of a receiver that is no more, of events recorded up to a moment; of those that are claimed
-- and those that are not up to so many each. The order is that of the index to use.
create or replace function owed_orphans(receiver text, now timestamptz, recorded timestamptz,
    most bigint)
returns setof bigint
language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_sort = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query select d.id from owed_delivery as d left join owed_event as e on e.id = d.event_id
        where d.receiver_key = $1 and d.status in ('pending', 'failed')
        and coalesce(e.recorded_at, timestamptz 'epoch') <= $3
        order by d.lane, d.kind, d.available_at limit $4;
    return query select d.id from owed_delivery as d left join owed_event as e on e.id = d.event_id
        where d.receiver_key = $1 and d.status = 'claimed' and d.lease_expires_at < $2
        and coalesce(e.recorded_at, timestamptz 'epoch') <= $3
        order by d.lane, d.kind, d.lease_expires_at limit $4;
end
$$;

-- Rows that somebody holds or gave back and that stand in another lane or kind than the catalogue says.
create or replace function owed_misplaced_claimed(most bigint)
returns setof bigint
language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_sort = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query select d.id from owed_delivery as d
        join owed_receiver as r on r.key = d.receiver_key
        where d.status = 'claimed' and (d.lane <> case when not starts_with(replace(d.lane, '/!+', '/+'), r.app || '/+') then r.stored_lane
            when r.paused_at > timestamptz 'epoch' then replace(d.lane, '/+', '/!+') else replace(d.lane, '/!+', '/+') end
            or (d.kind <> r.kind and not (d.kind = 'expand' and r.targets = 'callback')))
        limit $1;
end
$$;

-- Owed rows of one receiver that stand in another lane or kind than the catalogue says. A row that is
-- still to be expanded into targets stays so while its receiver has targets. Seeks past all that stand
-- where they should, in its lane and in the side lanes of its app.
create or replace function owed_misplaced(receiver text, most bigint)
returns setof bigint
language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_sort = off set jit = off
set plan_cache_mode = force_generic_plan as $$
declare
    r owed_receiver;
    first_side text collate "C";
    past_sides text collate "C";
begin
    select * into r from owed_receiver as known where known.key = receiver;
    if not found then
        return;
    end if;
    first_side := r.app || case when r.paused_at > timestamptz 'epoch' then '/!+' else '/+' end;
    past_sides := r.app || case when r.paused_at > timestamptz 'epoch' then '/!,' else '/,' end;
    return query select found.id from (
            (select d.id from owed_delivery as d
            where d.receiver_key = r.key and d.status in ('pending', 'failed')
            and d.lane < first_side
            order by d.lane, d.kind, d.available_at limit $2)
            union all
            (select d.id from owed_delivery as d
            where d.receiver_key = r.key and d.status in ('pending', 'failed')
            and d.lane >= past_sides and d.lane < r.stored_lane
            order by d.lane, d.kind, d.available_at limit $2)
            union all
            (select d.id from owed_delivery as d
            where d.receiver_key = r.key and d.status in ('pending', 'failed')
            and d.lane > r.stored_lane
            order by d.lane, d.kind, d.available_at limit $2)
            union all
            (select d.id from owed_delivery as d
            where d.receiver_key = r.key and d.status in ('pending', 'failed')
            and d.lane >= first_side and d.lane < past_sides and d.kind <> r.kind
            and not (d.kind = 'expand' and r.targets = 'callback')
            order by d.lane, d.kind, d.available_at limit $2)
            union all
            (select d.id from owed_delivery as d
            where d.receiver_key = r.key and d.status in ('pending', 'failed')
            and d.lane = r.stored_lane and d.kind < r.kind
            and not (d.kind = 'expand' and r.targets = 'callback')
            order by d.lane, d.kind, d.available_at limit $2)
            union all
            (select d.id from owed_delivery as d
            where d.receiver_key = r.key and d.status in ('pending', 'failed')
            and d.lane = r.stored_lane and d.kind > r.kind
            order by d.lane, d.kind, d.available_at limit $2)
        ) as found limit $2;
end
$$;

-- The receivers that anything is owed to, stepped through by index however much that is, and those of
-- claimed rows.
create or replace function owed_receivers_owed()
returns table (key text, is_known boolean, removed_at timestamptz)
language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_sort = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query with recursive owed (key) as (
            (select d.receiver_key from owed_delivery as d
                where d.status in ('pending', 'failed') order by d.receiver_key limit 1)
            union all
            select (select d.receiver_key from owed_delivery as d
                where d.status in ('pending', 'failed') and d.receiver_key > owed.key
                order by d.receiver_key limit 1)
            from owed where owed.key is not null
        ), all_owed (key) as (
            select owed.key from owed where owed.key is not null
            union
            select d.receiver_key from owed_delivery as d where d.status = 'claimed'
        )
        select k.key, r.key is not null, coalesce(r.removed_at, timestamptz 'epoch')
        from all_owed as k left join owed_receiver as r on r.key = k.key
        order by k.key;
end
$$;
