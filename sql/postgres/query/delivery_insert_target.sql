-- Owes an event to one target of a receiver, unless it already is: in the lane and kind that the
-- catalogue says, where it knows the receiver, or in the side lane that is given.
-- Parameters: event_id, receiver_key, target, its SHA-256, lane, kind, max_attempts, available_at,
-- due_at.
-- Index: unique (event_id, receiver_key, target_digest), the catalogue's primary key.
insert into owed_delivery (event_id, receiver_key, target, target_digest, lane, kind, max_attempts,
    available_at, due_at)
select $1::bigint, $2::text, $3::text, $4::bytea, coalesce(case when not starts_with(replace($5::text, '/!+', '/+'), r.app || '/+') then r.stored_lane
        when r.paused_at > timestamptz 'epoch' then replace($5::text, '/+', '/!+') else replace($5::text, '/!+', '/+') end, $5::text),
    coalesce(r.kind, $6::text), $7::bigint, $8::timestamptz, $9::timestamptz
from (values (1)) as one left join owed_receiver as r on r.key = $2
on conflict (event_id, receiver_key, target_digest) do nothing
