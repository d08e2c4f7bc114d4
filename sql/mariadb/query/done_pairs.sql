-- Which of these rows has settle_done_pairs written?
-- Parameters: a JSON array of pairs, an id and the moment of its outcome in microseconds; claimed_by,
-- claimed_at.
-- Columns: id.
-- Index: the primary key.
select d.id
from json_table($1, '$[*]' columns (id bigint path '$[0]', at bigint path '$[1]')) as done
straight_join owed_delivery as d on d.id = done.id
where d.status = 'succeeded' and d.claimed_by = $2 and d.claimed_at = $3
    and d.completed_at = timestamp '1970-01-01 00:00:00' + interval done.at microsecond
