-- Ends deliveries that succeeded under the claims of one by deleting them, with their events, where the event goes
-- when it has succeeded and nothing else was owed for it: the place in the list, from 1, of each that was still held
-- under its fence. What is not given is settled as usual. The events are taken before it is seen what is owed for
-- them, so that nobody makes more of it owed meanwhile. Of each receiver it is kept when one last succeeded, to the
-- slack.
--
-- outcomes is a JSON array of arrays: id, event_id, and claimed_at and succeeded_at in microseconds.
create or replace procedure owed_consume(
    in outcomes longtext character set utf8mb4 collate utf8mb4_nopad_bin,
    in holder varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin,
    in slack bigint)
    modifies sql data
    sql security invoker
begin
    declare taken longtext character set utf8mb4 collate utf8mb4_nopad_bin default null;

    select concat('[', group_concat('[', t.place, ',', t.id, ',', t.event_id, ',', t.at, ']'), ']') into taken
    from (
        select o.place, o.id, o.event_id, o.at
        from json_table(outcomes, '$[*]' columns (
            place for ordinality,
            id bigint path '$[0]',
            event_id bigint path '$[1]',
            claimed_at bigint path '$[2]',
            at bigint path '$[3]')) as o
        straight_join owed_event as e on e.id = o.event_id
        straight_join owed_delivery as d on d.id = o.id
        where e.delete_when = 'succeeded' and d.event_id = e.id
        and d.status = 'claimed' and d.claimed_by = holder
        and d.claimed_at = timestamp'1970-01-01 00:00:00' + interval o.claimed_at microsecond
        for update skip locked
    ) as t;

    if exists (
        select 1
        from json_table(taken, '$[*]' columns (
            id bigint path '$[1]',
            event_id bigint path '$[2]')) as t
        straight_join owed_delivery as other force index (owed_delivery_once)
            on other.event_id = t.event_id and other.id <> t.id) then
        select concat('[', group_concat('[', t.place, ',', t.id, ',', t.event_id, ',', t.at, ']'), ']') into taken
        from json_table(taken, '$[*]' columns (
            place int path '$[0]',
            id bigint path '$[1]',
            event_id bigint path '$[2]',
            at bigint path '$[3]')) as t
        where not exists (
            select 1 from owed_delivery as other force index (owed_delivery_once)
            where other.event_id = t.event_id and other.id <> t.id);
    end if;

    insert into owed_last_success (receiver_key, last_succeeded_at)
    select d.receiver_key, timestamp'1970-01-01 00:00:00' + interval max(t.at) microsecond
    from json_table(taken, '$[*]' columns (
        id bigint path '$[1]',
        at bigint path '$[3]')) as t
    straight_join owed_delivery as d on d.id = t.id
    left join owed_last_success as l on l.receiver_key = d.receiver_key
    where timestamp'1970-01-01 00:00:00' + interval t.at microsecond
        > coalesce(l.last_succeeded_at + interval slack microsecond, '1970-01-01 00:00:00')
    group by d.receiver_key
    order by d.receiver_key
    on duplicate key update
        last_succeeded_at = greatest(owed_last_success.last_succeeded_at, values(last_succeeded_at));

    delete d, e, a
    from json_table(taken, '$[*]' columns (
        id bigint path '$[1]',
        event_id bigint path '$[2]')) as t
    straight_join owed_delivery as d on d.id = t.id
    straight_join owed_event as e on e.id = t.event_id
    left join owed_attempt as a force index (owed_attempt_by_delivery) on a.delivery_id = d.id;

    select t.place
    from json_table(taken, '$[*]' columns (place int path '$[0]')) as t;
end;
