-- A delivery to an endpoint succeeded.
-- Parameters: id.
-- Index: the primary key.
update owed_endpoint set dead_in_row = 0 where id = $1 and dead_in_row > 0
