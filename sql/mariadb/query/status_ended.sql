-- What ended badly, by receiver.
-- Columns: receiver_key, lane, dead, orphaned.
-- Index: owed_delivery_ended_badly.
select receiver_key, max(lane), cast(sum(status = 'dead') as signed),
    cast(sum(status = 'orphaned') as signed)
from owed_delivery force index (owed_delivery_ended_badly)
where ended_badly is not null
group by receiver_key
