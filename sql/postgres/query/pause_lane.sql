-- Notes that an operator paused a lane; one that is paused already keeps the moment.
-- Parameters: lane, now, until when (not yet: until it is resumed), who, why.
-- Index: the primary key.
insert into owed_lane (lane, paused_at, paused_until, paused_by, reason)
values ($1::text, $2::timestamptz, $3::timestamptz, $4::text, $5::text)
on conflict (lane) do update set paused_until = excluded.paused_until, paused_by = excluded.paused_by,
    reason = excluded.reason
