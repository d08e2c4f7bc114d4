-- So many dead in a row disable an endpoint, once.
-- Parameters: id, now, why, how many.
-- Index: the primary key.
update owed_endpoint set disabled_at = $2::timestamptz, disabled_reason = $3::text, updated_at = $2::timestamptz
where id = $1::text and disabled_at = timestamptz 'epoch' and dead_in_row >= $4::bigint
