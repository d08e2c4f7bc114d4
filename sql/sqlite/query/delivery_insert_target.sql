-- Owes an event to one target of a receiver, unless it already is: in the lane and kind that the
-- catalogue says, where it knows the receiver, or in the side lane that is given.
-- Parameters: event_id, receiver_key, target, its SHA-256, lane, kind, max_attempts, available_at,
-- due_at.
-- Index: unique (event_id, receiver_key, target_digest), the catalogue's primary key.
insert into owed_delivery (event_id, receiver_key, target, target_digest, lane, kind, max_attempts,
    available_at, due_at)
select $1, $2, $3, $4, coalesce(case when instr(replace($5, '/!+', '/+'), r.app || '/+') <> 1 then r.stored_lane
        when r.paused_at > 0 then replace($5, '/+', '/!+') else replace($5, '/!+', '/+') end, $5), coalesce(r.kind, $6), $7, $8, $9
from (select 1) left join owed_receiver as r on r.key = $2
where true
on conflict (event_id, receiver_key, target_digest) do nothing
