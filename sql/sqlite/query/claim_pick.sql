-- Which rows can be claimed, in the order of the queue: those that are due, and claimed ones whose
-- lease is over (one that ends this moment still holds). One short index scan for each lane and arm.
-- Parameters: a JSON array of lanes, kind, now, how many, the mark: what was due before it is left out,
-- and of what is claimed all but what was handed back (null: nothing is left out).
-- Columns: id.
-- Index: owed_delivery_owed, owed_delivery_claimed.
select id from (
    select due.available_at, due.id
    from json_each($1) as lane cross join owed_delivery as due
    where due.id in (
        select id from owed_delivery as d
        where d.status in ('pending', 'failed') and d.lane = lane.value and d.kind = $2
        and d.available_at >= coalesce($5, -9223372036854775808) and d.available_at <= $3
        order by d.available_at, d.id limit $4)
    union all
    select lapsed.available_at, lapsed.id
    from json_each($1) as lane cross join owed_delivery as lapsed
    where lapsed.id in (
        select id from owed_delivery as d
        where d.status = 'claimed' and d.lane = lane.value and d.kind = $2
        and d.lease_expires_at < iif($5 is null, $3, 1)
        order by d.available_at, d.id limit $4)
)
order by available_at, id limit $4
