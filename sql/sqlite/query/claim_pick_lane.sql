-- The same as claim_pick for one lane: both arms come in order from their indexes and are merged.
-- Parameters: lane, kind, now, how many, the mark of claim_pick.
-- Columns: id.
-- Index: owed_delivery_owed, owed_delivery_claimed.
select id from (
    select available_at, id from (
        select available_at, id from owed_delivery
        where status in ('pending', 'failed') and lane = $1 and kind = $2
        and available_at >= coalesce($5, -9223372036854775808) and available_at <= $3
        order by available_at, id limit $4)
    union all
    select available_at, id from (
        select available_at, id from owed_delivery
        where status = 'claimed' and lane = $1 and kind = $2
        and lease_expires_at < iif($5 is null, $3, 1)
        order by available_at, id limit $4)
)
order by available_at, id limit $4
