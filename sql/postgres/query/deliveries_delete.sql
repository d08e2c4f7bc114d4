-- Deletes deliveries, of events that were found due in the same transaction.
-- Parameters: a JSON array of ids.
-- Index: the primary key.
delete from owed_delivery where id = any (translate($1::text, '[]', '{}')::bigint[])
