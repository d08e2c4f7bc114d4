-- The same as claim_pick, for a relay that can run only some of a lane's receivers.
-- Parameters: a JSON array of lanes, kind, now, how many, a JSON array of receiver keys, the mark
-- of claim_pick.
-- Columns: id.
-- Index: owed_delivery_by_receiver, owed_delivery_claimed.
select id from (
    select due.available_at, due.id
    from json_each($1) as lane cross join json_each($5) as receiver cross join owed_delivery as due
    where due.id in (
        select id from owed_delivery as d
        where d.status in ('pending', 'failed') and d.receiver_key = receiver.value
        and d.lane = lane.value and d.kind = $2
        and d.available_at >= coalesce($6, -9223372036854775808) and d.available_at <= $3
        order by d.available_at, d.id limit $4)
    union all
    select lapsed.available_at, lapsed.id
    from json_each($1) as lane cross join owed_delivery as lapsed
    where lapsed.id in (
        select id from owed_delivery as d
        where d.status = 'claimed' and d.lane = lane.value and d.kind = $2
        and d.lease_expires_at < iif($6 is null, $3, 1)
        and d.receiver_key in (select value from json_each($5))
        order by d.available_at, d.id limit $4)
)
order by available_at, id limit $4
