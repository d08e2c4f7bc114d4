-- A relay leaves.
-- Parameters: id.
-- Index: the primary key.
delete from owed_relay where id = $1::text
