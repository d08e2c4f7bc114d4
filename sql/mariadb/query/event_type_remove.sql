-- Marks as removed what an app no longer declares, where no newer release declared it.
-- Parameters: app, release, now, a JSON array of the names that it does declare.
-- Index: none; the catalogue is small.
update owed_event_type set removed_at = $3
where app = $1 and removed_at = '1970-01-01 00:00:00' and `release` <= $2
and not json_contains($4, json_quote(name))
