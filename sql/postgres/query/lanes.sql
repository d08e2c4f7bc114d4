-- The lanes of an app in which anything is owed, paused ones (lane, "!" and a receiver's key) left
-- out. Steps from lane to lane by index, however many rows they hold: from a lane it seeks past all
-- that begin with it and "!", since a lane's words have no sign that sorts before "-".
-- Parameters: the first text that can be a lane of the app ("app/"), the first one past them ("app0").
-- Columns: lane.
-- Index: owed_delivery_owed, owed_delivery_claimed.
select owed_lanes($1::text, $2::text)
