-- Marks as removed what an app no longer declares, where no newer release declared it.
-- Parameters: app, release, now, a JSON array of the names that it does declare.
-- Index: none; the catalogue is small.
update owed_event_type set removed_at = $3::timestamptz
where app = $1::text and removed_at = timestamptz 'epoch' and release <= $2::bigint
and name not in (select json_array_elements_text($4::text::json))
