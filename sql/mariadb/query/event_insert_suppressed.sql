-- Writes an event that is owed to nobody, with the retention that the catalogue has for its name. A taken
-- dedupe key writes nothing and gives no row.
-- Parameters: those of event_insert, and why.
-- Columns: the new id.
-- Index: unique (dedupe_key).
call owed_event_insert_suppressed($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
