-- Forgets pauses of lanes whose time is over.
-- Parameters: now.
-- Index: none; there are few.
delete from owed_lane where paused_until > 0 and paused_until <= $1
