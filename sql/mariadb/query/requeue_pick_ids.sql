-- Which of these rows can be owed again?
-- Parameters: a JSON array of ids, receiver key (empty: any), orphaned ones too (1 or 0), a text
-- that the error holds (empty: any), ended from when, until when.
-- Columns: id, event_id.
-- Index: the primary key.
select d.id, d.event_id
from json_table($1, '$[*]' columns (id bigint path '$')) as asked
straight_join owed_delivery as d on d.id = asked.id
where ($2 = '' or d.receiver_key = $2)
and instr(d.last_error, $4) > 0 and d.completed_at >= $5 and d.completed_at < $6
and (d.status = 'dead' or (d.status = 'orphaned' and $3 = 1 and exists (
    select 1 from owed_receiver as r
    where r.`key` = d.receiver_key and r.removed_at = '1970-01-01 00:00:00')))
order by d.id
