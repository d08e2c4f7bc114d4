-- Makes an event owed once more to one target of a receiver, if that has ended.
-- Parameters: event id, receiver key, the target's digest, now, max_attempts, the lane of the row that
-- stands for the targets: a side lane is theirs too.
-- Index: unique (event_id, receiver_key, target_digest).
update owed_delivery
set status = 'pending', attempts = 0, losses = 0, available_at = $4, due_at = $4, last_error = '',
    completed_at = 0, claimed_by = '', lease_expires_at = 0, max_attempts = $5,
    lane = coalesce((select case when instr(replace($6, '/!+', '/+'), r.app || '/+') <> 1 then r.stored_lane
            when r.paused_at > 0 then replace($6, '/+', '/!+') else replace($6, '/!+', '/+') end
        from owed_receiver as r where r.key = $2), $6)
where event_id = $1 and receiver_key = $2 and target_digest = $3
and status in ('succeeded', 'dead', 'orphaned', 'cancelled')
