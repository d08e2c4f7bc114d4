-- Does a row that stands for targets do so not for the first time?
-- Parameters: id.
-- Columns: whether it does.
-- Index: the primary key.
select target_digest = x'5f7355a8983a068b3ad8c44ea4bb3c452bf8e213c9c2aeb2815572ca5e6dae79' from owed_delivery where id = $1
