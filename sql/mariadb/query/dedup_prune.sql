-- Forgets keys whose time is over.
-- Parameters: now, how many at most.
-- Index: owed_dedup_by_end.
delete from owed_dedup where expires_at <= $1 order by expires_at limit $2
