-- Forgets an endpoint; what was owed to it ends when its turn comes.
-- Parameters: id.
-- Index: the primary key.
delete from owed_endpoint where id = $1
