-- When can the next row of these lanes be claimed?
-- Parameters: a JSON array of lanes, kind.
-- Columns: the moment, or null.
-- Index: owed_delivery_owed, owed_delivery_claimed.
select min(at) from (
    select (select d.available_at from owed_delivery as d force index (owed_delivery_owed)
        where d.owed_lane = wanted.lane and d.kind = $2
        order by d.available_at limit 1) as at
    from json_table($1, '$[*]' columns (lane varchar(400) character set utf8mb4
        collate utf8mb4_nopad_bin path '$')) as wanted
    union all
    select (select if(d.lease_expires_at > '1970-01-01 00:00:00',
            d.lease_expires_at + interval 1 microsecond, d.lease_expires_at)
        from owed_delivery as d force index (owed_delivery_claimed)
        where d.claimed_lane = wanted.lane and d.kind = $2
        order by d.lease_expires_at limit 1)
    from json_table($1, '$[*]' columns (lane varchar(400) character set utf8mb4
        collate utf8mb4_nopad_bin path '$')) as wanted
) as moments
