-- Owes an event to one target of a receiver, unless it already is: in the lane and kind that the
-- catalogue says, where it knows the receiver, or in the side lane that is given. A procedure, so that the catalogue's row is not locked.
-- Parameters: event_id, receiver_key, target, its SHA-256, lane, kind, max_attempts, available_at,
-- due_at.
-- Index: unique (event_id, receiver_key, target_digest), the catalogue's primary key.
call owed_delivery_insert_target($1, $2, $3, $4, $5, $6, $7, $8, $9)
