-- Claims that are over and that nobody has taken up, by lane: their lease has ended, or they were handed back.
-- Parameters: for how long (microseconds), now.
-- Columns: lane, one of those who held them, how many, since when.
-- Index: owed_delivery_claimed.
select claimed_lane, max(claimed_by), count(*), min(greatest(lease_expires_at, claimed_at))
from owed_delivery force index (owed_delivery_claimed)
where claimed_lane is not null and lease_expires_at < $2
and greatest(lease_expires_at, claimed_at) < $2 - interval $1 microsecond
group by claimed_lane
order by 3 desc, 1
