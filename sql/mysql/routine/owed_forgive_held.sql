-- Takes back from every row that somebody holds the loss that it will be given when its lapsed lease is
-- claimed. One below zero makes good a loss to come. Its rows are read first and then changed by their
-- ids: a scan that locked them by their index as it went would lie across the way of who settles one.
create or replace procedure owed_forgive_held(
    in holder varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin)
    modifies sql data
    sql security invoker
begin
    declare at_end int default 0;
    declare held_id bigint;
    declare held longtext character set utf8mb4 collate utf8mb4_nopad_bin default null;
    declare rows_held cursor for
        select id from owed_delivery force index (owed_delivery_claimed)
        where claimed_lane is not null and claimed_by = holder
        and lease_expires_at > '1970-01-01 00:00:00'
        order by id;
    declare continue handler for not found set at_end = 1;

    open rows_held;
    fetch rows_held into held_id;
    while not at_end do
        set held = concat_ws(',', held, held_id);
        fetch rows_held into held_id;
    end while;
    close rows_held;

    update json_table(concat('[', coalesce(held, ''), ']'), '$[*]' columns (id bigint path '$')) as h
    straight_join owed_delivery as d on d.id = h.id
    set d.losses = greatest(d.losses - 1, -1)
    where d.status = 'claimed' and d.claimed_by = holder
    and d.lease_expires_at > '1970-01-01 00:00:00';
end;
