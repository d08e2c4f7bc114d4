-- Ends the pause of a receiver, or of those that were paused along with their lane.
-- Parameters: lane (empty: none), receiver key (empty: none).
-- Index: the primary key; the catalogue is small.
update owed_receiver
set paused_at = '1970-01-01 00:00:00', paused_until = '1970-01-01 00:00:00', paused_reason = ''
where paused_at > '1970-01-01 00:00:00' and (`key` = $2
    or (lane = $1 and paused_at = (select l.paused_at from owed_lane as l where l.lane = $1)))
