-- Notes when receivers last succeeded, whatever becomes of the rows; that only moves forward.
-- Parameters: a JSON array of pairs, a receiver key and a moment in microseconds.
-- Index: the primary key.
insert into owed_last_success (receiver_key, last_succeeded_at)
select noted.pair ->> 0, timestamptz 'epoch' + (noted.pair ->> 1)::bigint * interval '1 microsecond'
from json_array_elements($1::json) as noted (pair)
order by 1
on conflict (receiver_key) do update set last_succeeded_at = excluded.last_succeeded_at
where excluded.last_succeeded_at > owed_last_success.last_succeeded_at
