-- The delivery of a lane and kind that was put off last and waits still: until then, at the latest, a relay
-- that heard of it leaves the lane alone; or the target, where its receiver says so.
-- Parameters: lane, kind, now, receiver key and target of the row that may be left alone for it.
-- Columns: id, receiver key, when it was put off, available_at, what was said.
-- Index: owed_delivery_owed, owed_attempt_by_delivery. Looks at a thousand rows that wait, no more.
select waiting.id, waiting.receiver_key, a.started_at, waiting.available_at, a.error
from (
    select id, receiver_key, target, available_at, status from owed_delivery
    where status in ('pending', 'failed') and lane = $1::text and kind = $2::text
    and available_at > $3::timestamptz
    order by available_at limit 1000
) as waiting
join owed_attempt as a on a.id = (select max(id) from owed_attempt where delivery_id = waiting.id)
left join owed_receiver as r on r.key = waiting.receiver_key
where waiting.status = 'failed' and a.verdict = 'deferred'
and (coalesce(r.pause, 'lane') = 'lane' or (waiting.receiver_key = $4::text and waiting.target = $5::text))
order by a.id desc limit 1
