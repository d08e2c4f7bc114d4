-- The same as claim_pick, without the rows of some targets, and of receivers that are not named.
-- Parameters: a JSON array of lanes, kind, now, how many, a JSON array of receiver keys or null for
-- all, a JSON array of targets: the digest in small hex digits, followed by the receiver's key, the mark of
-- claim_pick.
-- Columns: id.
-- Index: owed_delivery_owed, owed_delivery_claimed.
select id from (
    select due.available_at, due.id
    from json_each($1) as lane cross join owed_delivery as due
    where due.id in (
        select id from owed_delivery as d
        where d.status in ('pending', 'failed') and d.lane = lane.value and d.kind = $2
        and d.available_at >= coalesce($7, -9223372036854775808) and d.available_at <= $3
        and ($5 is null or d.receiver_key in (select value from json_each($5)))
        and lower(hex(d.target_digest)) || d.receiver_key not in (select value from json_each($6))
        order by d.available_at, d.id limit $4)
    union all
    select lapsed.available_at, lapsed.id
    from json_each($1) as lane cross join owed_delivery as lapsed
    where lapsed.id in (
        select id from owed_delivery as d
        where d.status = 'claimed' and d.lane = lane.value and d.kind = $2
        and d.lease_expires_at < iif($7 is null, $3, 1)
        and ($5 is null or d.receiver_key in (select value from json_each($5)))
        and lower(hex(d.target_digest)) || d.receiver_key not in (select value from json_each($6))
        order by d.available_at, d.id limit $4)
)
order by available_at, id limit $4
