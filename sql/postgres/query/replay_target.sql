-- Makes an event owed once more to one target of a receiver, if that has ended.
-- Parameters: event id, receiver key, the target's digest, now, max_attempts, the lane of the row that
-- stands for the targets: a side lane is theirs too.
-- Index: unique (event_id, receiver_key, target_digest).
update owed_delivery
set status = 'pending', attempts = 0, losses = 0, available_at = $4::timestamptz, due_at = $4::timestamptz, last_error = '',
    completed_at = timestamptz 'epoch', claimed_by = '', lease_expires_at = timestamptz 'epoch', max_attempts = $5::bigint,
    lane = coalesce((select case when not starts_with(replace($6::text, '/!+', '/+'), r.app || '/+') then r.stored_lane
            when r.paused_at > timestamptz 'epoch' then replace($6::text, '/+', '/!+') else replace($6::text, '/!+', '/+') end
        from owed_receiver as r where r.key = $2::text), $6::text)
where event_id = $1::bigint and receiver_key = $2::text and target_digest = $3::bytea
and status || '' in ('succeeded', 'dead', 'orphaned', 'cancelled')
