-- Picks and locks owed rows of one receiver that stand in another lane or kind than the catalogue says.
-- A row that is still to be expanded into targets stays so while its receiver has targets. Seeks past
-- all that stand where they should.
create or replace function owed_misplaced(receiver text, most bigint)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    r owed_receiver;
begin
    select * into r from owed_receiver as known where known.key = receiver;
    if not found then
        return;
    end if;
    return query select d.id from (
            select at.id from owed_delivery as at
            where at.receiver_key = r.key and at.status in ('pending', 'failed')
            and at.lane < r.stored_lane
            union all
            select at.id from owed_delivery as at
            where at.receiver_key = r.key and at.status in ('pending', 'failed')
            and at.lane > r.stored_lane
            union all
            select at.id from owed_delivery as at
            where at.receiver_key = r.key and at.status in ('pending', 'failed')
            and at.lane = r.stored_lane and at.kind < r.kind
            and not (at.kind = 'expand' and r.targets = 'callback')
            union all
            select at.id from owed_delivery as at
            where at.receiver_key = r.key and at.status in ('pending', 'failed')
            and at.lane = r.stored_lane and at.kind > r.kind
            limit $2
        ) as found
        join owed_delivery as d on d.id = found.id
        where d.status in ('pending', 'failed')
        for no key update of d skip locked;
end
$$;
