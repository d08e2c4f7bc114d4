-- Ends pauses of receivers whose time is over.
-- Parameters: now.
-- Index: none; the catalogue is small.
update owed_receiver
set paused_at = timestamptz 'epoch', paused_until = timestamptz 'epoch', paused_reason = ''
where paused_at > timestamptz 'epoch' and paused_until > timestamptz 'epoch' and paused_until <= $1::timestamptz
