-- Deletes events with all that was owed for them. They are taken first, so that nobody makes anything owed for them
-- meanwhile, and what others have taken is passed over; then it is seen which of them can go: those that go
-- when they have succeeded, and did (once = 'succeeded'), else those of which all has ended. With most_rows
-- deliveries or more only these go, and no event. Of each receiver it is kept when it last succeeded: that only
-- moves forward, and only by more than the slack. Each statement sees what was committed before it.
create or replace function owed_forget(given bigint[], once text, most_rows bigint, slack bigint,
    out events bigint, out rows bigint)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    taken bigint[];
    due bigint[];
    gone bigint[];
begin
    events := 0;
    rows := 0;
    taken := array(
        select e.id from owed_event as e where e.id = any (given) order by e.id for update skip locked);
    due := array(
        select e.id from owed_event as e
        where e.id = any (taken) and (once <> 'succeeded' or e.delete_when || '' = 'succeeded')
        and not exists (
            select from owed_delivery as d
            where d.event_id = e.id and d.status || '' <> 'succeeded'
            and (once = 'succeeded' or d.status || '' in ('pending', 'claimed', 'failed')) offset 0)
        order by e.id);
    if due = '{}' then
        return;
    end if;
    gone := array(select d.id from owed_delivery as d where d.event_id = any (due) limit most_rows);

    insert into owed_last_success (receiver_key, last_succeeded_at)
    select d.receiver_key, max(d.succeeded_at)
    from owed_delivery as d
    left join owed_last_success as l on l.receiver_key = d.receiver_key
    where d.id = any (gone)
    and d.succeeded_at > coalesce(l.last_succeeded_at + slack * interval '1 microsecond', timestamptz 'epoch')
    group by d.receiver_key
    order by d.receiver_key
    on conflict (receiver_key) do update set last_succeeded_at = excluded.last_succeeded_at
    where excluded.last_succeeded_at > owed_last_success.last_succeeded_at;

    delete from owed_attempt as a where a.delivery_id = any (gone);
    delete from owed_delivery as d where d.id = any (gone);
    if cardinality(gone) < most_rows then
        delete from owed_event as e where e.id = any (due);
        events := cardinality(due);
    end if;
    rows := events + cardinality(gone);
end
$$;
