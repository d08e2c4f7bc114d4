-- What is owed to each receiver and not claimed.
-- Parameters: now.
-- Columns: receiver_key, lane, how many, due, scheduled, failed, available_at of the oldest due one
-- (not yet: none).
-- Index: owed_delivery_by_receiver.
select owed_receiver_key, max(lane), count(*), cast(sum(available_at <= $1) as signed),
    cast(sum(available_at > $1) as signed), cast(sum(status = 'failed') as signed),
    coalesce(min(if(available_at <= $1, available_at, null)), cast('1970-01-01' as datetime(6)))
from owed_delivery force index (owed_delivery_by_receiver)
where owed_receiver_key is not null
group by owed_receiver_key
