-- Picks and locks what is owed for the first time, and due, of some events to some receivers, in the
-- order of the queue; in whatever lane, but not while the receiver is paused. A status with '' added
-- keeps the indexes of what is owed away: there may be much more of that.
create or replace function owed_pick_events(events bigint[], receivers text[], kind text,
    now timestamptz, most bigint)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
    return query select d.id from owed_delivery as d
        where d.event_id = any ($1) and d.receiver_key = any ($2) and d.kind = $3
        and d.status || '' = 'pending' and d.available_at <= $4 and strpos(d.lane, '!') = 0
        order by d.available_at, d.id limit $5 for no key update skip locked;
end
$$;
