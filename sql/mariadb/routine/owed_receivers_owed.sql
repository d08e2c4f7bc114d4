-- The receivers that anything is owed to, stepped through by index however much that is, and those of
-- claimed rows; with what the catalogue knows of them. A loop, since where a step leads to must be known
-- before its statement is planned.
create or replace procedure owed_receivers_owed()
    reads sql data
    sql security invoker
begin
    declare receiver varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin;
    declare found longtext character set utf8mb4 collate utf8mb4_nopad_bin default '[]';

    select min(owed_receiver_key) into receiver
    from owed_delivery force index (owed_delivery_by_receiver);
    while receiver is not null do
        set found = json_array_append(found, '$', receiver);
        select min(owed_receiver_key) into receiver
        from owed_delivery force index (owed_delivery_by_receiver)
        where owed_receiver_key > receiver;
    end while;

    select k.receiver_key, r.`key` is not null,
        coalesce(r.removed_at, cast('1970-01-01' as datetime(6)))
    from (
        select f.receiver_key
        from json_table(found, '$[*]' columns (
            receiver_key varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin path '$')) as f
        union
        select d.receiver_key from owed_delivery as d force index (owed_delivery_claimed)
        where d.claimed_lane is not null
    ) as k
    left join owed_receiver as r on r.`key` = k.receiver_key
    order by k.receiver_key;
end;
