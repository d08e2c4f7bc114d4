-- Is this very event there? Ids can come again, a uid cannot.
-- Parameters: id, uid.
-- Columns: 1.
-- Index: the primary key.
select owed_event_exists($1::bigint, $2::bytea)
