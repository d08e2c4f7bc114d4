-- Notes how many more it was done to, or that it is done.
-- Parameters: id, how many more, when it was done (not yet: it goes on).
-- Index: the primary key.
update owed_audit set how_many = how_many + $2, ended_at = $3 where id = $1
