-- Is the event owed to this receiver, without a target? Far cheaper than an insert that finds out.
-- Parameters: event_id, receiver_key.
-- Columns: 1.
-- Index: unique (event_id, receiver_key, target_digest).
select owed_delivery_exists($1::bigint, $2::text)
