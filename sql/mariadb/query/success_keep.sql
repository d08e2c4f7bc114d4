-- Keeps, of each receiver that these deliveries were owed to, when one last succeeded. It only moves
-- forward, and only where it would by more than the slack: nobody waits for a row that is kept fresh.
-- Parameters: a JSON array of ids of deliveries, the slack in microseconds.
-- Index: the primary keys.
insert into owed_last_success (receiver_key, last_succeeded_at)
select d.receiver_key, max(d.succeeded_at) as newest
from json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_delivery as d on d.id = picked.id
left join owed_last_success as l on l.receiver_key = d.receiver_key
where d.succeeded_at > coalesce(l.last_succeeded_at + interval $2 microsecond, '1970-01-01 00:00:00')
group by d.receiver_key
order by d.receiver_key
on duplicate key update
    last_succeeded_at = greatest(owed_last_success.last_succeeded_at, values(last_succeeded_at))
