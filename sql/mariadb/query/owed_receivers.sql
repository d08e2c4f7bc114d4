-- The receivers that anything is owed to, stepped through by index however much that is, and those of
-- claimed rows.
-- Columns: receiver key, whether the catalogue has it (1 or 0), removed_at.
-- Index: owed_delivery_by_receiver, owed_delivery_claimed, the catalogue's primary key.
with recursive owed (`key`) as (
    (select owed_receiver_key from owed_delivery force index (owed_delivery_by_receiver)
        where owed_receiver_key is not null order by owed_receiver_key limit 1)
    union all
    select (select d.owed_receiver_key
        from owed_delivery as d force index (owed_delivery_by_receiver)
        where d.owed_receiver_key > owed.`key` order by d.owed_receiver_key limit 1)
    from owed where owed.`key` is not null
)
select k.`key`, r.`key` is not null, coalesce(r.removed_at, cast('1970-01-01' as datetime(6)))
from (
    select `key` from owed where `key` is not null
    union
    select receiver_key from owed_delivery force index (owed_delivery_claimed)
    where claimed_lane is not null
) as k
left join owed_receiver as r on r.`key` = k.`key`
order by k.`key`
