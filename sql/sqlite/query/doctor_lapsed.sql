-- Claims that are over and that nobody has taken up, by lane: their lease has ended, or they were handed back.
-- Parameters: for how long (microseconds), now.
-- Columns: lane, one of those who held them, how many, since when.
-- Index: owed_delivery_claimed.
select lane, max(claimed_by), count(*), min(max(lease_expires_at, claimed_at))
from owed_delivery indexed by owed_delivery_claimed
where status = 'claimed' and lease_expires_at < $2
and max(lease_expires_at, claimed_at) < $2 - $1
group by lane
order by 3 desc, 1
