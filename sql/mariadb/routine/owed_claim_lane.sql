-- Claims what is due in one lane, in the order of the queue, as claim_pick_lane, claim_fetch and claim_mark do one
-- after another, in one round trip. It begins a transaction and commits it: is for who has none open.
--
-- Rows that somebody was lost with go alone, or so many together and no others, and payloads have a bound above
-- the first: what does not fit stays as it is. So does a row whose event is gone; it comes with nulls for it.
-- The columns are those of before. (A server that shall wait for no lock at all, innodb_lock_wait_timeout = 0, fails
-- what passes over a locked row in a transaction: no connection that claims is set so.)
create or replace procedure owed_claim_lane(
    in wanted_lane varchar(400) character set utf8mb4 collate utf8mb4_nopad_bin,
    in wanted_kind varchar(16) character set utf8mb4 collate utf8mb4_nopad_bin,
    in now_at datetime(6),
    in how_many int,
    in mark datetime(6),
    in by_whom varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin,
    in lease_until datetime(6),
    in max_bytes bigint,
    in most_lost bigint)
    modifies sql data
    sql security invoker
begin
    declare since datetime(6) default coalesce(mark, timestamp'0001-01-01 00:00:00');
    declare lapsed_until datetime(6) default if(mark is null, now_at, timestamp'1970-01-01 00:00:00');
    declare picked, taken longtext character set utf8mb4 collate utf8mb4_nopad_bin;
    declare bytes, lost bigint;
    declare exit handler for sqlexception
    begin
        rollback;
        resignal;
    end;

    start transaction;
    select group_concat(id order by available_at, id) into picked
    from (
        select available_at, id from (
            (select available_at, id from owed_delivery force index (owed_delivery_owed)
                where owed_lane = wanted_lane and kind = wanted_kind
                and available_at >= since and available_at <= now_at
                order by available_at, id limit how_many
                for update skip locked)
            union all
            (select available_at, id from owed_delivery force index (owed_delivery_claimed)
                where claimed_lane = wanted_lane and kind = wanted_kind
                and lease_expires_at = '1970-01-01 00:00:00'
                order by available_at, id limit how_many
                for update skip locked)
            union all
            (select available_at, id from owed_delivery force index (owed_delivery_claimed)
                where claimed_lane = wanted_lane and kind = wanted_kind
                and lease_expires_at > '1970-01-01 00:00:00' and lease_expires_at < lapsed_until
                order by available_at, id limit how_many
                for update skip locked)
        ) as due
        order by available_at, id limit how_many
    ) as first_due;

    if picked is not null then
        select group_concat(d.id), sum(octet_length(e.payload)), sum(d.losses + (d.status = 'claimed'
            and d.lease_expires_at > '1970-01-01 00:00:00'))
        into taken, bytes, lost
        from json_table(concat('[', picked, ']'), '$[*]' columns (id bigint path '$')) as r
        straight_join owed_delivery as d on d.id = r.id
        straight_join owed_event as e on e.id = d.event_id;
        if bytes > max_bytes or lost > 0 then
            select group_concat(id order by place), group_concat(if(is_gone, null, id)) into picked, taken
            from (
                select r.place, r.id, e.id is null as is_gone,
                    count(e.id) over queue as nth,
                    sum(octet_length(e.payload)) over queue as byte_count,
                    sum(e.id is not null and d.losses + (d.status = 'claimed'
                        and d.lease_expires_at > '1970-01-01 00:00:00') > 0) over queue as lost_count
                from json_table(concat('[', picked, ']'), '$[*]' columns (
                    place for ordinality, id bigint path '$')) as r
                straight_join owed_delivery as d on d.id = r.id
                left join owed_event as e on e.id = d.event_id
                window queue as (order by r.place rows between unbounded preceding and current row)
            ) as measured
            where is_gone or nth = 1
            or (byte_count <= max_bytes
                and (lost_count = 0 or (lost_count = nth and nth <= most_lost)));
        end if;

        select d.id, d.status, d.claimed_at, d.lease_expires_at, d.losses, d.event_id, d.receiver_key,
            d.target, d.lane, d.attempts, d.max_attempts, d.available_at, d.due_at,
            e.uid, e.name, e.version, e.payload, e.occurred_at, e.recorded_at, e.actor_key, e.actor_label,
            e.scope, e.correlation_id, e.traceparent
        from json_table(concat('[', picked, ']'), '$[*]' columns (
            place for ordinality, id bigint path '$')) as r
        straight_join owed_delivery as d on d.id = r.id
        left join owed_event as e on e.id = d.event_id
        order by r.place;

        update json_table(concat('[', coalesce(taken, ''), ']'), '$[*]' columns (id bigint path '$')) as r
        straight_join owed_delivery as d on d.id = r.id
        set d.losses = d.losses + (d.status = 'claimed' and d.lease_expires_at > '1970-01-01 00:00:00'),
            d.status = 'claimed', d.claimed_by = by_whom,
            d.claimed_at = greatest(now_at, d.claimed_at + interval 1 microsecond),
            d.lease_expires_at = lease_until;
    end if;
    commit;
end;
