-- Marks as removed what an app no longer declares, where no newer release declared it.
-- Parameters: app, release, now, a JSON array of the names that it does declare.
-- Index: none; the catalogue is small.
update owed_event_type set removed_at = $3
where app = $1 and removed_at = 0 and release <= $2
and name not in (select value from json_each($4))
