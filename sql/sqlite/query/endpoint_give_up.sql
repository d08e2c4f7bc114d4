-- So many dead in a row disable an endpoint, once.
-- Parameters: id, now, why, how many.
-- Index: the primary key.
update owed_endpoint set disabled_at = $2, disabled_reason = $3, updated_at = $2
where id = $1 and disabled_at = 0 and dead_in_row >= $4
