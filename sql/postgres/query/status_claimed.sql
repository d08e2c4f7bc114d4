-- What is claimed, by receiver.
-- Parameters: now.
-- Columns: receiver_key, lane, how many, lapsed, handed back, available_at of the oldest that anyone
-- may claim (0: none).
-- Index: owed_delivery_claimed.
select receiver_key, max(lane), count(*),
    count(*) filter (where lease_expires_at > timestamptz 'epoch'
        and lease_expires_at < $1::timestamptz),
    count(*) filter (where lease_expires_at = timestamptz 'epoch'),
    coalesce(min(available_at) filter (where lease_expires_at < $1), timestamptz 'epoch')
from owed_delivery
where status = 'claimed'
group by receiver_key
