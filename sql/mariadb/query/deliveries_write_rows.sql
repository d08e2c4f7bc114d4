-- Owes an event to a receiver; is given many rows of parameters where the server takes them. The digest is that
-- of no target.
-- Parameters: event id, receiver key, lane, kind, max_attempts, and from when it may run.
insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
    available_at, due_at)
values ($1, $2, x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', $3, $4, $5, $6, $6)
