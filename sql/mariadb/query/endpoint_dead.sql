-- One more delivery to an endpoint is dead.
-- Parameters: id, how many are.
-- Index: the primary key.
update owed_endpoint set dead_in_row = dead_in_row + $2 where id = $1
