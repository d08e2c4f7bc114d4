-- Ends pauses of endpoints whose time is over.
-- Parameters: now.
-- Index: none; the endpoints are read through.
update owed_endpoint
set paused_at = '1970-01-01 00:00:00', paused_until = '1970-01-01 00:00:00', paused_reason = '', resumed_at = $1, updated_at = $1
where paused_until <> '1970-01-01 00:00:00' and paused_until <= $1
