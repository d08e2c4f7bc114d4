-- Owes an event to one receiver, unless it already is. The digest is that of no target.
-- Parameters: event_id, receiver_key, lane, kind, max_attempts, available_at.
-- Index: unique (event_id, receiver_key, target_digest).
insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
    available_at, due_at)
values ($1, $2, x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', $3, $4, $5,
    $6, $6)
on duplicate key update event_id = values(event_id)
