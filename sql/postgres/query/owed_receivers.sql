-- The receivers that anything is owed to, stepped through by index however much that is, and those of
-- claimed rows.
-- Columns: receiver key, whether the catalogue has it (1 or 0), removed_at.
-- Index: owed_delivery_by_receiver, owed_delivery_claimed, the catalogue's primary key.
with recursive owed (key) as (
    select (select min(receiver_key) from owed_delivery where status in ('pending', 'failed'))
    union all
    select (select min(d.receiver_key) from owed_delivery as d
        where d.status in ('pending', 'failed') and d.receiver_key > owed.key)
    from owed where owed.key is not null
)
select k.key, r.key is not null, coalesce(r.removed_at, timestamptz 'epoch')
from (
    select key from owed where key is not null
    union
    select receiver_key from owed_delivery where status = 'claimed'
) as k
left join owed_receiver as r on r.key = k.key
order by k.key
