-- What operators did, newest first.
-- Parameters: ids below this, how many.
-- Columns: id, began_at, ended_at, who, action, what, how_many.
-- Index: the primary key.
select id, began_at, ended_at, who, action, what, how_many
from owed_audit where id < $1::bigint order by id desc limit $2::bigint
