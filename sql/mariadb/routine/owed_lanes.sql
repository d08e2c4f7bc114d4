-- The lanes in which anything is owed, paused ones (lane, "!" and a receiver's key) left out: from
-- first_lane on and below past_lanes. Steps from lane to lane by index, however many rows they hold: from
-- a lane it seeks past all that begin with it and "!", since a lane's words have no sign that sorts
-- before "-". A loop, since where a step leads to must be known before its statement is planned. Where nothing is
-- owed, which is what a relay that waits asks all the time, it is one look.
create or replace procedure owed_lanes(
    in first_lane varchar(400) character set utf8mb4 collate utf8mb4_nopad_bin,
    in past_lanes varchar(400) character set utf8mb4 collate utf8mb4_nopad_bin)
    reads sql data
    sql security invoker
begin
    declare lane, held_lane varchar(400) character set utf8mb4 collate utf8mb4_nopad_bin;
    declare found longtext character set utf8mb4 collate utf8mb4_nopad_bin default '[]';

    select
        (select min(owed_lane) from owed_delivery force index (owed_delivery_owed)
            where owed_lane >= first_lane and owed_lane < past_lanes),
        (select min(claimed_lane) from owed_delivery force index (owed_delivery_claimed)
            where claimed_lane >= first_lane and claimed_lane < past_lanes)
    into lane, held_lane;
    while lane is not null do
        if instr(lane, '!') = 0 then
            set found = json_array_append(found, '$', lane);
        end if;
        set lane = concat(substring_index(lane, '!', 1), '"');
        select min(owed_lane) into lane from owed_delivery force index (owed_delivery_owed)
        where owed_lane > lane and owed_lane < past_lanes;
    end while;

    set lane = held_lane;
    while lane is not null do
        if instr(lane, '!') = 0 then
            set found = json_array_append(found, '$', lane);
        end if;
        set lane = concat(substring_index(lane, '!', 1), '"');
        select min(claimed_lane) into lane from owed_delivery force index (owed_delivery_claimed)
        where claimed_lane > lane and claimed_lane < past_lanes;
    end while;

    select distinct f.lane
    from json_table(found, '$[*]' columns (
        lane varchar(400) character set utf8mb4 collate utf8mb4_nopad_bin path '$')) as f;
end;
