-- The same as claim_pick for one lane: all arms come in order from their indexes and are merged, but the
-- one of lapsed leases, which are few; what was handed back may be many. The lane stays out of their
-- order: a connection of another collation would sort, and lock the whole lane.
-- Parameters: lane, kind, now, how many, the mark of claim_pick.
-- Columns: id.
-- Index: owed_delivery_owed, owed_delivery_claimed.
select id from (
    (select available_at, id from owed_delivery force index (owed_delivery_owed)
        where owed_lane = $1 and kind = $2 and available_at <= $3
        and available_at >= coalesce($5, timestamp'0001-01-01 00:00:00')
        order by available_at, id limit $4
        for update skip locked)
    union all
    (select available_at, id from owed_delivery force index (owed_delivery_claimed)
        where claimed_lane = $1 and kind = $2 and lease_expires_at = '1970-01-01 00:00:00'
        order by available_at, id limit $4
        for update skip locked)
    union all
    (select available_at, id from owed_delivery force index (owed_delivery_claimed)
        where claimed_lane = $1 and kind = $2 and lease_expires_at > '1970-01-01 00:00:00'
        and lease_expires_at < if($5 is null, $3, timestamp'1970-01-01 00:00:00')
        order by available_at, id limit $4
        for update skip locked)
) as picked
order by available_at, id limit $4
