-- Takes back what the trigger wrote for a receiver whose targets the firing process names itself.
-- Parameters: event_id, receiver_key.
-- Index: unique (event_id, receiver_key, target_digest).
delete from owed_delivery
where event_id = $1::bigint and receiver_key = $2::text
    and target_digest = '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
