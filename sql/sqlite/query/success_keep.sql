-- Keeps, of each receiver that these deliveries were owed to, when one last succeeded. It only moves
-- forward, and only where it would by more than the slack: nobody waits for a row that is kept fresh.
-- Parameters: a JSON array of ids of deliveries, the slack in microseconds.
-- Index: the primary keys.
insert into owed_last_success (receiver_key, last_succeeded_at)
select d.receiver_key, max(d.succeeded_at) as newest
from owed_delivery as d
left join owed_last_success as l on l.receiver_key = d.receiver_key
where d.id in (select value from json_each($1)) and d.succeeded_at > coalesce(l.last_succeeded_at + $2, 0)
group by d.receiver_key
order by d.receiver_key
on conflict (receiver_key) do update set last_succeeded_at = excluded.last_succeeded_at
where excluded.last_succeeded_at > owed_last_success.last_succeeded_at
