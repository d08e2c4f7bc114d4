-- Relays that have not been heard of for long and hold claims all the same.
-- Parameters: for how long (microseconds), now.
-- Columns: relay, its host and process, how many claims, when it was last heard of.
-- Index: owed_delivery_claimed.
select r.id, concat('process ', r.pid, ' on ', r.host), count(*), r.heartbeat_at
from owed_delivery as d force index (owed_delivery_claimed)
join owed_relay as r on r.id = convert(d.claimed_by using utf8mb4)
where d.claimed_lane is not null and r.heartbeat_at < $2 - interval $1 microsecond
group by r.id, r.pid, r.host, r.heartbeat_at
order by 1
