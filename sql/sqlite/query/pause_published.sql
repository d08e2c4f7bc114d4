-- Pauses receivers that came into a lane after it was paused, along with it.
-- Index: the primary keys; the catalogue is small.
update owed_receiver
set (paused_at, paused_until, paused_reason) = (
    select l.paused_at, l.paused_until, l.reason from owed_lane as l where l.lane = owed_receiver.lane)
where paused_at = 0
and exists (select 1 from owed_lane as l where l.lane = owed_receiver.lane)
