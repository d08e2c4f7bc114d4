-- Lets an endpoint wait; one that does keeps the moment, and why, where nothing else is said.
-- Parameters: id, now, until when (not yet: until it is resumed), why.
-- Index: the primary key.
update owed_endpoint
set paused_at = case when paused_at = 0 then $2 else paused_at end,
    paused_until = $3, paused_reason = case when $4 = '' then paused_reason else $4 end, updated_at = $2
where id = $1
