-- An endpoint gets what was kept for it, and all else, from now on.
-- Parameters: id, now.
-- Index: the primary key.
update owed_endpoint
set paused_at = timestamptz 'epoch', paused_until = timestamptz 'epoch', paused_reason = '', resumed_at = $2::timestamptz, updated_at = $2::timestamptz
where id = $1::text and paused_at <> timestamptz 'epoch'
