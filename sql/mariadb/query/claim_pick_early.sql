-- Which rows one call may claim before their time, in the order of the queue. Leases end by the clock,
-- whatever the call takes for now; what is due later is left, also where backoff is ignored.
-- Parameters: a JSON array of lanes, kind, now, how many, a JSON array of receiver keys, due until,
-- whether backoff is ignored, a JSON array of ids to leave, one of targets to leave (the digest in small
-- hex digits, followed by the receiver's key).
-- Columns: id.
-- Index: owed_delivery_owed, owed_delivery_claimed.
select id from (
    (select due.available_at, due.id
        from json_table($1, '$[*]' columns (lane varchar(400) character set utf8mb4
            collate utf8mb4_nopad_bin path '$')) as wanted
        straight_join owed_delivery as due force index (owed_delivery_owed)
        where due.owed_lane = wanted.lane and due.kind = $2
        and due.due_at <= $6 and (due.available_at <= $6 or ($7 <> 0 and due.status = 'failed'))
        and json_contains($5, json_quote(due.receiver_key))
        and not json_contains($8, cast(due.id as char))
        and not json_contains($9, json_quote(concat(lower(hex(due.target_digest)), due.receiver_key)))
        for update skip locked)
    union all
    (select lapsed.available_at, lapsed.id
        from json_table($1, '$[*]' columns (lane varchar(400) character set utf8mb4
            collate utf8mb4_nopad_bin path '$')) as wanted
        straight_join owed_delivery as lapsed force index (owed_delivery_claimed)
        where lapsed.claimed_lane = wanted.lane and lapsed.kind = $2
        and lapsed.lease_expires_at < $3
        and json_contains($5, json_quote(lapsed.receiver_key))
        and not json_contains($8, cast(lapsed.id as char))
        and not json_contains($9,
            json_quote(concat(lower(hex(lapsed.target_digest)), lapsed.receiver_key)))
        for update skip locked)
) as picked
order by available_at, id limit $4
