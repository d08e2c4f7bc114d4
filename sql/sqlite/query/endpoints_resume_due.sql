-- Ends pauses of endpoints whose time is over.
-- Parameters: now.
-- Index: none; the endpoints are read through.
update owed_endpoint
set paused_at = 0, paused_until = 0, paused_reason = '', resumed_at = $1, updated_at = $1
where paused_until <> 0 and paused_until <= $1
