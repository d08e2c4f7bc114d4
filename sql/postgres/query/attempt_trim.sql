-- Drops a delivery's oldest attempts beyond so many.
-- Parameters: delivery_id, how many stay.
-- Index: owed_attempt_by_delivery.
select from owed_trim_attempts($1::bigint, $2::bigint)
