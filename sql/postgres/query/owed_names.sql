-- What is owed to whom, by the names of the events; what is claimed is counted, too.
-- Columns: receiver_key, event name, how many.
-- Index: owed_delivery_by_receiver, owed_delivery_claimed, the primary key of events.
with owed as (
    select receiver_key, event_id from owed_delivery where status in ('pending', 'failed')
    union all
    select receiver_key, event_id from owed_delivery where status = 'claimed'
)
select owed.receiver_key, e.name, count(*)
from owed join owed_event as e on e.id = owed.event_id
group by owed.receiver_key, e.name
order by owed.receiver_key, e.name
