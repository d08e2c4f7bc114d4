-- The durable receivers of the catalogue of which no success is kept that is as late as a moment.
-- Parameters: the moment.
-- Columns: key, app, event_name, lane, the success that is kept (not yet: none).
-- Index: the primary keys; the catalogue is small.
select r.key, r.app, r.event_name, r.lane, coalesce(l.last_succeeded_at, 0)
from owed_receiver as r
left join owed_last_success as l on l.receiver_key = r.key
where r.mode = 'durable' and r.removed_at = 0 and coalesce(l.last_succeeded_at, 0) < $1
order by r.key
