-- Which of these rows has settle_done written?
-- Parameters: a JSON object of ids and the moments of their outcomes, claimed_by, claimed_at.
-- Columns: id.
-- Index: the primary key.
select d.id
from json_each($1) as done cross join owed_delivery as d on d.id = done.key
where d.status = 'succeeded' and d.claimed_by = $2 and d.claimed_at = $3
    and d.completed_at = done.value
