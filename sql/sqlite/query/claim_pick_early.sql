-- Which rows one call may claim before their time, in the order of the queue. Leases end by the clock,
-- whatever the call takes for now; what is due later is left, also where backoff is ignored.
-- Parameters: a JSON array of lanes, kind, now, how many, a JSON array of receiver keys, due until,
-- whether backoff is ignored, a JSON array of ids to leave, one of targets to leave (the digest in small
-- hex digits, followed by the receiver's key).
-- Columns: id.
-- Index: owed_delivery_owed, owed_delivery_claimed.
select id from (
    select due.available_at, due.id
    from json_each($1) as lane cross join owed_delivery as due
    where due.status in ('pending', 'failed') and due.lane = lane.value and due.kind = $2
    and due.due_at <= $6 and (due.available_at <= $6 or ($7 and due.status = 'failed'))
    and due.receiver_key in (select value from json_each($5))
    and due.id not in (select value from json_each($8))
    and lower(hex(due.target_digest)) || due.receiver_key not in (select value from json_each($9))
    union all
    select lapsed.available_at, lapsed.id
    from json_each($1) as lane cross join owed_delivery as lapsed
    where lapsed.status = 'claimed' and lapsed.lane = lane.value and lapsed.kind = $2
    and lapsed.lease_expires_at < $3
    and lapsed.receiver_key in (select value from json_each($5))
    and lapsed.id not in (select value from json_each($8))
    and lower(hex(lapsed.target_digest)) || lapsed.receiver_key
        not in (select value from json_each($9))
)
order by available_at, id limit $4
