-- Ends deliveries that succeeded by deleting them, with their events and all that was owed for these, where
-- the event goes when it has succeeded and nothing else of it is owed: the place in the list, from 1, of
-- each that was still held under its fence. What is not given is settled as usual. The events are taken
-- before it is seen what is owed for them, so that nobody makes more of it owed meanwhile. Of each receiver
-- it is kept when one last succeeded, to the slack. An event with very many deliveries is left to prune.
create or replace function owed_consume(outcomes json, slack bigint)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan as $$
declare
    taken constant bigint[] := array(
        select e.id from owed_event as e
        where e.id = any (array(select (o ->> 'event_id')::bigint from json_array_elements($1) as o))
        and e.delete_when = 'succeeded'
        order by e.id
        for update skip locked);
begin
    if taken = '{}' then
        return;
    end if;
    return query with given as materialized (
            select listed.place, o.id, o.claimed_by,
                timestamptz 'epoch' + o.claimed_at * interval '1 microsecond' as claimed_at,
                timestamptz 'epoch' + o.succeeded_at * interval '1 microsecond' as succeeded_at
            from json_array_elements($1) with ordinality as listed (outcome, place)
            cross join lateral json_to_record(listed.outcome) as o (id bigint, event_id bigint,
                claimed_by text, claimed_at bigint, succeeded_at bigint)
            where o.event_id = any (taken)
        ), done as (
            delete from owed_delivery as d
            using given as g
            where d.id = any (array(select given.id from given)) and d.id = g.id
            and d.status || '' = 'claimed' and d.claimed_by = g.claimed_by
            and d.claimed_at = g.claimed_at
            and not exists (
                select from owed_delivery as o
                where o.event_id = d.event_id and o.id <> d.id and o.status || '' <> 'succeeded')
            returning d.id, d.event_id, d.receiver_key, g.place, g.succeeded_at
        ), whole as materialized (
            select done.event_id from done
            where (select count(*) from (
                select from owed_delivery as o where o.event_id = done.event_id limit 1001) as of_event) <= 1000
        ), before as (
            delete from owed_delivery as d
            where d.event_id = any (array(select whole.event_id from whole))
            and d.id <> all (array(select done.id from done))
            returning d.id, d.receiver_key, d.succeeded_at
        ), forgotten as (
            delete from owed_attempt as a
            where a.delivery_id = any (array(
                select done.id from done union all select before.id from before))
        ), gone as (
            delete from owed_event as e where e.id = any (array(select whole.event_id from whole))
        ), newest as (
            select s.receiver_key, max(s.succeeded_at) as at
            from (
                select done.receiver_key, done.succeeded_at from done
                union all select before.receiver_key, before.succeeded_at from before
            ) as s
            group by s.receiver_key
        ), kept as (
            insert into owed_last_success (receiver_key, last_succeeded_at)
            select n.receiver_key, n.at
            from newest as n
            where not exists (
                select from owed_last_success as l
                where l.receiver_key = n.receiver_key
                and l.last_succeeded_at >= n.at - $2 * interval '1 microsecond')
            order by n.receiver_key
            on conflict (receiver_key) do update set last_succeeded_at = excluded.last_succeeded_at
            where excluded.last_succeeded_at > owed_last_success.last_succeeded_at
        )
        select done.place from done;
end
$$;
