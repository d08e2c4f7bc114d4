-- Notes that an operator paused a lane; one that is paused already keeps the moment.
-- Parameters: lane, now, until when (not yet: until it is resumed), who, why.
-- Index: the primary key.
insert into owed_lane (lane, paused_at, paused_until, paused_by, reason)
values ($1, $2, $3, $4, $5)
on duplicate key update paused_until = values(paused_until), paused_by = values(paused_by),
    reason = values(reason)
