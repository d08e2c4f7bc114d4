-- The same as event_alone, and owes the event to receivers that the firing process declares, unless the
-- catalogue has them.
-- Parameters: those of event_insert_listed.
-- Index: unique (event_id, receiver_key, target_digest).
call owed_event_write($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0,
    @owed_event_id, @owed_event_is_new)
