-- Ends the pause of a receiver, or of those that were paused along with their lane.
-- Parameters: lane (empty: none), receiver key (empty: none).
-- Index: the primary key; the catalogue is small.
update owed_receiver
set paused_at = timestamptz 'epoch', paused_until = timestamptz 'epoch', paused_reason = ''
where paused_at > timestamptz 'epoch' and (key = $2::text
    or (lane = $1::text and paused_at = (select l.paused_at from owed_lane as l where l.lane = $1::text)))
