-- Relays that have not been heard of for long and hold claims all the same.
-- Parameters: for how long (microseconds), now.
-- Columns: relay, its host and process, how many claims, when it was last heard of.
-- Index: owed_delivery_claimed.
select r.id, 'process ' || r.pid || ' on ' || r.host, count(*), r.heartbeat_at
from owed_delivery as d indexed by owed_delivery_claimed
join owed_relay as r on r.id = d.claimed_by
where d.status = 'claimed' and r.heartbeat_at < $2 - $1
group by r.id
order by 1
