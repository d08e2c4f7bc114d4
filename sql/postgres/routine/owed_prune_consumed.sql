-- The next events by id of those that go as soon as all their deliveries have succeeded, or have ended.
create or replace function owed_prune_consumed(after_id bigint, how_many bigint, once text)
returns table (id bigint, is_old integer, size bigint, goes_anyway integer)
language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
    return query select e.id, 1 as is_old,
        case when exists (
                select from owed_delivery as d
                where d.event_id = e.id and d.status || '' <> 'succeeded'
                and ($3 = 'succeeded' or d.status || '' in ('pending', 'claimed', 'failed')) offset 0) then 0
            else 1 + (select count(*) from owed_delivery as d where d.event_id = e.id) end as size, 0 as goes_anyway
    from owed_event as e
    where e.delete_when = $3 and e.delete_when <> '' and e.id > $1
    order by e.id limit $2;
end
$$;
