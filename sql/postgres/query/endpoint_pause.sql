-- Lets an endpoint wait; one that does keeps the moment, and why, where nothing else is said.
-- Parameters: id, now, until when (not yet: until it is resumed), why.
-- Index: the primary key.
update owed_endpoint
set paused_at = case when paused_at = timestamptz 'epoch' then $2::timestamptz else paused_at end,
    paused_until = $3::timestamptz, paused_reason = case when $4::text = '' then paused_reason else $4::text end, updated_at = $2::timestamptz
where id = $1::text
