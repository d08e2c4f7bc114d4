-- Forgets what was tried for these deliveries.
-- Parameters: a JSON array of ids of deliveries.
-- Index: owed_attempt_by_delivery.
delete from owed_attempt where delivery_id in (select value from json_each($1))
