-- Notes when receivers last succeeded, whatever becomes of the rows; that only moves forward.
-- Parameters: a JSON array of pairs, a receiver key and a moment in microseconds.
-- Index: the primary key.
insert into owed_last_success (receiver_key, last_succeeded_at)
select json_extract(value, '$[0]'), json_extract(value, '$[1]')
from json_each($1)
where true
order by 1
on conflict (receiver_key) do update set last_succeeded_at = excluded.last_succeeded_at
where excluded.last_succeeded_at > owed_last_success.last_succeeded_at
