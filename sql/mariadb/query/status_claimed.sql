-- What is claimed, by receiver.
-- Parameters: now.
-- Columns: receiver_key, lane, how many, lapsed, handed back, available_at of the oldest that anyone
-- may claim (not yet: none).
-- Index: owed_delivery_claimed.
select receiver_key, max(lane), count(*),
    cast(sum(lease_expires_at > '1970-01-01 00:00:00' and lease_expires_at < $1) as signed),
    cast(sum(lease_expires_at = '1970-01-01 00:00:00') as signed),
    coalesce(min(if(lease_expires_at < $1, available_at, null)), cast('1970-01-01' as datetime(6)))
from owed_delivery force index (owed_delivery_claimed)
where claimed_lane is not null
group by receiver_key
