-- What is kept of a delivery's attempts, oldest first.
-- Parameters: delivery_id.
-- Columns: id, delivery_id, attempt, started_at, duration, verdict, code, error, excerpt.
-- Index: owed_attempt_by_delivery.
select id, delivery_id, attempt, started_at, duration, verdict, code, error, excerpt
from owed_attempt
where delivery_id = $1::bigint
order by id
