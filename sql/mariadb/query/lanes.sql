-- The lanes of an app in which anything is owed, paused ones (lane, "!" and a receiver's key) left out.
-- Parameters: the first text that can be a lane of the app ("app/"), the first one past them ("app0").
-- Columns: lane.
-- Index: owed_delivery_owed, owed_delivery_claimed.
call owed_lanes($1, $2)
