-- The events that one led to, the oldest first.
-- Parameters: the id of the cause, how many.
-- Columns: id, name.
-- Index: owed_event_by_cause.
select id, name from owed_event where causation_id = $1 order by id limit $2
