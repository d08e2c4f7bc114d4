-- What is orphaned, by receiver. Of so many rows, whichever they are.
-- Parameters: how many rows are looked at, whether (1 or 0) their receiver is in the catalogue by now.
-- Columns: receiver_key, nothing, how many, 0.
-- Index: owed_delivery_ended_badly.
select o.receiver_key, '', count(*), 0
from (
    select receiver_key from owed_delivery indexed by owed_delivery_ended_badly
    where status in ('dead', 'orphaned') and status = 'orphaned' limit $1
) as o
left join owed_receiver as r on r.key = o.receiver_key and r.removed_at = 0
where (r.key is not null) = $2
group by o.receiver_key
order by 3 desc, 1
