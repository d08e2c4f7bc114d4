-- Is the event owed to this receiver, without a target? Far cheaper than an insert that finds out.
-- Parameters: event_id, receiver_key.
-- Columns: 1.
-- Index: unique (event_id, receiver_key, target_digest).
select 1 from owed_delivery
where event_id = $1::bigint and receiver_key = $2::text
    and target_digest = '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
