-- What is owed to each receiver and not claimed.
-- Parameters: now.
-- Columns: receiver_key, lane, how many, due, scheduled, failed, available_at of the oldest due one
-- (0: none).
-- Index: owed_delivery_by_receiver.
select receiver_key, max(lane), count(*), sum(available_at <= $1), sum(available_at > $1),
    sum(status = 'failed'), coalesce(min(case when available_at <= $1 then available_at end), 0)
from owed_delivery indexed by owed_delivery_by_receiver
where status in ('pending', 'failed')
group by receiver_key
