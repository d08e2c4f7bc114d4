-- Ends pauses of receivers whose time is over.
-- Parameters: now.
-- Index: none; the catalogue is small.
update owed_receiver
set paused_at = '1970-01-01 00:00:00', paused_until = '1970-01-01 00:00:00', paused_reason = ''
where paused_at > '1970-01-01 00:00:00' and paused_until > '1970-01-01 00:00:00' and paused_until <= $1
