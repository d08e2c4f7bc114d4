-- Writes an event and what the catalogue says is owed for it, in a transaction of its own, and answers with nothing.
-- Parameters: those of event_insert.
-- Index: none.
call owed_event_write($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, '[]', 0,
    @owed_event_id, @owed_event_is_new)
