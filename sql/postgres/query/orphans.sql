-- Owed rows of a receiver that is no more. A row that somebody holds stays with its holder.
-- Parameters: receiver key, now, only of events recorded at or before this moment, how many at most.
-- Columns: id.
-- Index: owed_delivery_by_receiver, owed_delivery_claimed.
select owed_orphans($1::text, $2::timestamptz, $3::timestamptz, $4::bigint)
