-- What ended badly, by receiver.
-- Columns: receiver_key, lane, dead, orphaned.
-- Index: owed_delivery_ended_badly.
select receiver_key, max(lane), sum(status = 'dead'), sum(status = 'orphaned')
from owed_delivery indexed by owed_delivery_ended_badly
where status in ('dead', 'orphaned')
group by receiver_key
