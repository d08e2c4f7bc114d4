-- What is dead, by receiver, and the error that it ended with most often. Of so many rows, whichever they are.
-- Parameters: how many rows are looked at.
-- Columns: receiver_key, that error, how many are dead, how many have it.
-- Index: owed_delivery_ended_badly.
select receiver_key, error, total, count
from (
    select receiver_key, substr(last_error, 1, 200) as error, count(*) as count,
        sum(count(*)) over (partition by receiver_key) as total,
        row_number() over (partition by receiver_key order by count(*) desc, substr(last_error, 1, 200)) as place
    from (
        select receiver_key, last_error from owed_delivery indexed by owed_delivery_ended_badly
        where status in ('dead', 'orphaned') and status = 'dead' limit $1
    )
    group by receiver_key, substr(last_error, 1, 200)
)
where place = 1
order by total desc, receiver_key
