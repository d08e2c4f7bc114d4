-- Makes history of what owed bench fired: as though it had been delivered.
-- Parameters: first event_id, last event_id, now.
-- Index: unique (event_id, receiver_key, target_digest).
update owed_delivery set status = 'succeeded', attempts = 1, completed_at = $3, succeeded_at = $3
where event_id between $1 and $2 and +lane = 'owed.bench/default' and +status = 'pending'
