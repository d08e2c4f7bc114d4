-- Pauses receivers that came into a lane after it was paused, along with it.
-- Index: the primary keys; the catalogue is small.
update owed_receiver as r join owed_lane as l on l.lane = r.lane
set r.paused_at = l.paused_at, r.paused_until = l.paused_until, r.paused_reason = l.reason
where r.paused_at = '1970-01-01 00:00:00'
