-- Drops a delivery's oldest attempts beyond so many.
-- Parameters: delivery_id, how many stay.
-- Index: owed_attempt_by_delivery.
delete from owed_attempt
where delivery_id = $1::bigint and id <= (
    select id from owed_attempt where delivery_id = $1 order by id desc limit 1 offset $2::bigint)
