-- What is dead, by receiver, and the error that it ended with most often. Of so many rows, whichever they are.
-- Parameters: how many rows are looked at.
-- Columns: receiver_key, that error, how many are dead, how many have it.
-- Index: owed_delivery_ended_badly.
select receiver_key, error, total, number
from (
    select receiver_key, error, number, cast(sum(number) over (partition by receiver_key) as signed) as total,
        row_number() over (partition by receiver_key order by number desc, error) as place
    from (
        select receiver_key, left(last_error, 200) as error, count(*) as number
        from (
            select receiver_key, last_error from owed_delivery force index (owed_delivery_ended_badly)
            where ended_badly = 'dead' limit $1
        ) as dead
        group by receiver_key, left(last_error, 200)
    ) as errors
) as ranked
where place = 1
order by total desc, receiver_key
