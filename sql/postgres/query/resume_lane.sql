-- Forgets that a lane was paused.
-- Parameters: lane.
-- Index: the primary key.
delete from owed_lane where lane = $1::text
