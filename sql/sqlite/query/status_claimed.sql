-- What is claimed, by receiver.
-- Parameters: now.
-- Columns: receiver_key, lane, how many, lapsed, handed back, available_at of the oldest that anyone
-- may claim (0: none).
-- Index: owed_delivery_claimed.
select receiver_key, max(lane), count(*), sum(lease_expires_at > 0 and lease_expires_at < $1),
    sum(lease_expires_at = 0),
    coalesce(min(case when lease_expires_at < $1 then available_at end), 0)
from owed_delivery indexed by owed_delivery_claimed
where status = 'claimed'
group by receiver_key
