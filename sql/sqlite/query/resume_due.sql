-- Ends pauses of receivers whose time is over.
-- Parameters: now.
-- Index: none; the catalogue is small.
update owed_receiver
set paused_at = 0, paused_until = 0, paused_reason = ''
where paused_at > 0 and paused_until > 0 and paused_until <= $1
