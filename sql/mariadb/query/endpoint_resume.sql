-- An endpoint gets what was kept for it, and all else, from now on.
-- Parameters: id, now.
-- Index: the primary key.
update owed_endpoint
set paused_at = '1970-01-01 00:00:00', paused_until = '1970-01-01 00:00:00', paused_reason = '', resumed_at = $2, updated_at = $2
where id = $1 and paused_at <> '1970-01-01 00:00:00'
