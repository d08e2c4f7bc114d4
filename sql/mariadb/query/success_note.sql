-- Notes when receivers last succeeded, whatever becomes of the rows; that only moves forward.
-- Parameters: a JSON array of pairs, a receiver key and a moment in microseconds.
-- Index: the primary key.
insert into owed_last_success (receiver_key, last_succeeded_at)
select noted.receiver_key, timestamp '1970-01-01 00:00:00' + interval noted.at microsecond
from json_table($1, '$[*]' columns (receiver_key varchar(255) path '$[0]', at bigint path '$[1]')) as noted
order by noted.receiver_key
on duplicate key update
    last_succeeded_at = greatest(owed_last_success.last_succeeded_at, values(last_succeeded_at))
