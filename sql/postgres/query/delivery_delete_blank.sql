-- Takes back what the trigger wrote for a receiver whose targets the firing process names itself.
-- Parameters: event_id, receiver_key.
-- Index: unique (event_id, receiver_key, target_digest).
select from owed_delete_blank($1::bigint, $2::text)
