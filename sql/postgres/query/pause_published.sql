-- Pauses receivers that came into a lane after it was paused, along with it.
-- Index: the primary keys; the catalogue is small.
update owed_receiver as r
set paused_at = l.paused_at, paused_until = l.paused_until, paused_reason = l.reason
from owed_lane as l
where r.paused_at = timestamptz 'epoch'
and l.lane = r.lane
