-- Relays that have not been heard of for long and hold claims all the same.
-- Parameters: for how long (microseconds), now.
-- Columns: relay, its host and process, how many claims, when it was last heard of.
-- Index: owed_delivery_claimed.
select r.id, 'process ' || r.pid || ' on ' || r.host, count(*), r.heartbeat_at
from owed_relay as r
join owed_delivery as d on d.status = 'claimed' and d.claimed_by = r.id
where r.heartbeat_at < $2::timestamptz - $1::bigint * interval '1 microsecond'
group by r.id, r.pid, r.host, r.heartbeat_at
order by 1
