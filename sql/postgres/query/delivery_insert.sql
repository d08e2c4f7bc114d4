-- Owes an event to one receiver, unless it already is. The digest is that of no target.
-- Parameters: event_id, receiver_key, lane, kind, max_attempts, available_at.
-- Index: unique (event_id, receiver_key, target_digest).
insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
    available_at, due_at)
values ($1::bigint, $2::text, '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    $3::text, $4::text, $5::bigint, $6::timestamptz, $6)
on conflict (event_id, receiver_key, target_digest) do nothing
