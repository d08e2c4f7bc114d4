-- Which rows of several lanes can be claimed, in the order of the queue: those that are due, and claimed
-- ones whose lease is over. Of each lane (and receiver, where receivers are named) at most as many as are
-- wanted are read and locked, so that a backlog costs nothing; the first of them all are given. (Leases
-- that lapsed are few, and read whole.) Rows that others have locked are passed over.
--
-- With a mark, what was due before it is left out, and leases that lapsed are not looked for.
--
-- lanes and receivers (null: any) are JSON arrays; but_targets (null: none) one of targets to leave,
-- the digest in small hex digits, followed by the receiver's key.
create or replace procedure owed_claim_pick(
    in lanes longtext character set utf8mb4 collate utf8mb4_nopad_bin,
    in wanted_kind varchar(16) character set utf8mb4 collate utf8mb4_nopad_bin,
    in now_at datetime(6),
    in how_many int,
    in receivers longtext character set utf8mb4 collate utf8mb4_nopad_bin,
    in but_targets longtext character set utf8mb4 collate utf8mb4_nopad_bin,
    in mark datetime(6))
    modifies sql data
    sql security invoker
begin
    declare lane_at int default 0;
    declare receiver_at int;
    declare since datetime(6) default coalesce(mark, timestamp'0001-01-01 00:00:00');
    declare lapsed_until datetime(6) default if(mark is null, now_at, timestamp'1970-01-01 00:00:00');
    declare wanted_lane varchar(400) character set utf8mb4 collate utf8mb4_nopad_bin;
    declare wanted_receiver varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin;
    declare found, picked longtext character set utf8mb4 collate utf8mb4_nopad_bin default '';

    while lane_at < json_length(lanes) do
        set wanted_lane = json_unquote(json_extract(lanes, concat('$[', lane_at, ']')));
        set lane_at = lane_at + 1;
        set receiver_at = 0;

        while receiver_at < coalesce(json_length(receivers), 1) do
            if receivers is null then
                select group_concat('["', available_at, '",', id, ']') into found
                from (
                    select available_at, id
                    from owed_delivery force index (owed_delivery_owed)
                    where owed_lane = wanted_lane and kind = wanted_kind
                    and available_at >= since and available_at <= now_at
                    and (but_targets is null or not json_contains(but_targets,
                        json_quote(concat(lower(hex(target_digest)), receiver_key))))
                    order by available_at, id limit how_many
                    for update skip locked
                ) as due;
            else
                set wanted_receiver = json_unquote(json_extract(receivers, concat('$[', receiver_at, ']')));
                select group_concat('["', available_at, '",', id, ']') into found
                from (
                    select available_at, id
                    from owed_delivery force index (owed_delivery_by_receiver)
                    where owed_receiver_key = wanted_receiver and lane = wanted_lane
                    and kind = wanted_kind and available_at >= since and available_at <= now_at
                    and (but_targets is null or not json_contains(but_targets,
                        json_quote(concat(lower(hex(target_digest)), receiver_key))))
                    order by available_at, id limit how_many
                    for update skip locked
                ) as due;
            end if;
            set picked = concat_ws(',', nullif(picked, ''), found);
            set receiver_at = receiver_at + 1;
        end while;

        select group_concat('["', available_at, '",', id, ']') into found
        from (
            select available_at, id
            from owed_delivery force index (owed_delivery_claimed)
            where claimed_lane = wanted_lane and kind = wanted_kind
            and lease_expires_at = '1970-01-01 00:00:00'
            and (receivers is null or json_contains(receivers, json_quote(receiver_key)))
            and (but_targets is null or not json_contains(but_targets,
                json_quote(concat(lower(hex(target_digest)), receiver_key))))
            order by available_at, id limit how_many
            for update skip locked
        ) as handed_back;
        set picked = concat_ws(',', nullif(picked, ''), found);

        select group_concat('["', available_at, '",', id, ']') into found
        from (
            select available_at, id
            from owed_delivery force index (owed_delivery_claimed)
            where claimed_lane = wanted_lane and kind = wanted_kind
            and lease_expires_at > '1970-01-01 00:00:00' and lease_expires_at < lapsed_until
            and (receivers is null or json_contains(receivers, json_quote(receiver_key)))
            and (but_targets is null or not json_contains(but_targets,
                json_quote(concat(lower(hex(target_digest)), receiver_key))))
            order by available_at, id limit how_many
            for update skip locked
        ) as lapsed;
        set picked = concat_ws(',', nullif(picked, ''), found);
    end while;

    select p.id
    from json_table(concat('[', picked, ']'), '$[*]' columns (
        available_at datetime(6) path '$[0]',
        id bigint path '$[1]')) as p
    order by p.available_at, p.id limit how_many;
end;
