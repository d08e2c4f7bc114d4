-- What ended badly, by receiver.
-- Columns: receiver_key, lane, dead, orphaned.
-- Index: owed_delivery_ended_badly.
select receiver_key, max(lane), count(*) filter (where status = 'dead'),
    count(*) filter (where status = 'orphaned')
from owed_delivery
where status in ('dead', 'orphaned')
group by receiver_key
