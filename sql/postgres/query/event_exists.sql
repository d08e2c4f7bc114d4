-- Is this very event there? Ids can come again, a uid cannot.
-- Parameters: id, uid.
-- Columns: 1.
-- Index: the primary key.
select 1 from owed_event where id = $1::bigint and uid = $2::bytea
