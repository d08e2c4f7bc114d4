-- When can the next row of these lanes be claimed?
-- Parameters: a JSON array of lanes, kind.
-- Columns: the moment, or null.
-- Index: owed_delivery_owed, owed_delivery_claimed.
select min(at) from (
    select (select available_at from owed_delivery as d
        where d.status in ('pending', 'failed') and d.lane = lane.value and d.kind = $2
        order by d.available_at limit 1) as at
    from json_each($1) as lane
    union all
    select (select lease_expires_at + (lease_expires_at > 0) from owed_delivery as d
        where d.status = 'claimed' and d.lane = lane.value and d.kind = $2
        order by d.lease_expires_at limit 1)
    from json_each($1) as lane
)
