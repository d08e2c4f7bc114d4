-- Ends deliveries that succeeded under the claims of one by deleting them, with their events and all that was
-- owed for these, where the event goes when it has succeeded and nothing else of it is owed: the place in the
-- arrays, from 1, of each that was still held under its fence. What is not given is settled as usual. The
-- events are taken before it is seen what is owed for them, so that nobody makes more of it owed meanwhile;
-- where nothing else is, nobody looks for it row by row. Of each receiver it is kept when one last succeeded,
-- to the slack. An event with very many deliveries is left to prune.
create or replace function owed_consume(ids bigint[], event_ids bigint[], claimed_by text,
    claimed_at timestamptz[], succeeded_at timestamptz[], slack bigint)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    taken record;
    is_alone boolean;
begin
    select array_agg(t.id) as ids, array_agg(t.event_id) as event_ids,
        array_agg(t.claimed_at) as claimed_at, array_agg(t.succeeded_at) as succeeded_at,
        array_agg(t.place) as places
    into taken
    from (
        select given.* from unnest($1, $2, $4, $5)
            with ordinality as given (id, event_id, claimed_at, succeeded_at, place)
        join owed_event as e on e.id = given.event_id
        where e.delete_when || '' = 'succeeded'
        for update of e skip locked) as t;
    if taken.ids is null then
        return;
    end if;
    is_alone := not exists (
        select from unnest(taken.ids, taken.event_ids) as given (id, event_id)
        join owed_delivery as o on o.event_id = given.event_id
        where o.id <> given.id);
    return query with done as (
            delete from owed_delivery as d
            using unnest(taken.ids, taken.claimed_at, taken.succeeded_at, taken.places)
                as given (id, claimed_at, succeeded_at, place)
            where d.id = given.id and d.status || '' = 'claimed' and d.claimed_by = $3
            and d.claimed_at = given.claimed_at
            and (is_alone or not exists (
                select from owed_delivery as o
                where o.event_id = d.event_id and o.id <> d.id and o.status || '' <> 'succeeded'))
            returning d.id, d.event_id, d.receiver_key, given.place, given.succeeded_at
        ), whole as materialized (
            select done.event_id from done
            where is_alone or (select count(*) from (
                select from owed_delivery as o where o.event_id = done.event_id limit 1001) as of_event) <= 1000
        ), before as (
            delete from owed_delivery as d
            where d.event_id = any (array(select whole.event_id from whole where not is_alone))
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
                and l.last_succeeded_at >= n.at - $6 * interval '1 microsecond')
            order by n.receiver_key
            on conflict (receiver_key) do update set last_succeeded_at = excluded.last_succeeded_at
            where excluded.last_succeeded_at > owed_last_success.last_succeeded_at
        )
        select done.place from done;
end
$$;
