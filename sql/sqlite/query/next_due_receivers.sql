-- The same as next_due, for a relay that can run only some of a lane's receivers.
-- Parameters: a JSON array of lanes, kind, a JSON array of receiver keys.
-- Columns: the moment, or null.
-- Index: owed_delivery_by_receiver, owed_delivery_claimed.
select min(at) from (
    select (select available_at from owed_delivery as d
        where d.status in ('pending', 'failed') and d.receiver_key = receiver.value
        and d.lane = lane.value and d.kind = $2
        order by d.available_at limit 1) as at
    from json_each($1) as lane cross join json_each($3) as receiver
    union all
    select (select lease_expires_at + (lease_expires_at > 0) from owed_delivery as d
        where d.status = 'claimed' and d.lane = lane.value and d.kind = $2
        and d.receiver_key in (select value from json_each($3))
        order by d.lease_expires_at limit 1)
    from json_each($1) as lane
)
