-- Ends pauses of endpoints whose time is over.
-- Parameters: now.
-- Index: none; the endpoints are read through.
update owed_endpoint
set paused_at = timestamptz 'epoch', paused_until = timestamptz 'epoch', paused_reason = '', resumed_at = $1::timestamptz, updated_at = $1::timestamptz
where paused_until <> timestamptz 'epoch' and paused_until <= $1::timestamptz
