-- What is owed to each receiver and not claimed.
-- Parameters: now.
-- Columns: receiver_key, lane, how many, due, scheduled, failed, available_at of the oldest due one
-- (0: none).
-- Index: owed_delivery_by_receiver.
select receiver_key, max(lane), count(*), count(*) filter (where available_at <= $1::timestamptz),
    count(*) filter (where available_at > $1), count(*) filter (where status = 'failed'),
    coalesce(min(available_at) filter (where available_at <= $1), timestamptz 'epoch')
from owed_delivery
where status in ('pending', 'failed')
group by receiver_key
