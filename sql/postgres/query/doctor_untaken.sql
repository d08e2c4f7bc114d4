-- What was handed to its task site, is due for long, and was not taken there, by receiver. Handed on
-- anew after each lease, it never looks like a claim that is over.
-- Parameters: for how long (microseconds), now.
-- Columns: receiver, one of the claims, how many, since when.
-- Index: owed_delivery_claimed.
select receiver_key, max(claimed_by), count(*), min(available_at)
from owed_delivery
where status = 'claimed' and kind = 'task' and available_at < $2::timestamptz - $1::bigint * interval '1 microsecond'
and claimed_by like '%/task'
group by receiver_key
order by 3 desc, 1
