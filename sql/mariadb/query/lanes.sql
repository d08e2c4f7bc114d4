-- The lanes of an app in which anything is owed, paused ones (lane, "!" and a receiver's key) left
-- out. Steps from lane to lane by index, however many rows they hold: from a lane it seeks past all
-- that begin with it and "!", since a lane's words have no sign that sorts before "-".
-- Parameters: the first text that can be a lane of the app ("app/"), the first one past them ("app0").
-- Columns: lane.
-- Index: owed_delivery_owed, owed_delivery_claimed.
with recursive
owed (lane) as (
    (select owed_lane from owed_delivery force index (owed_delivery_owed)
        where owed_lane >= $1 and owed_lane < $2 order by owed_lane limit 1)
    union all
    select (select d.owed_lane from owed_delivery as d force index (owed_delivery_owed)
        where d.owed_lane > concat(substring_index(owed.lane, '!', 1), '"') and d.owed_lane < $2
        order by d.owed_lane limit 1)
    from owed where owed.lane is not null
),
claimed (lane) as (
    (select claimed_lane from owed_delivery force index (owed_delivery_claimed)
        where claimed_lane >= $1 and claimed_lane < $2 order by claimed_lane limit 1)
    union all
    select (select d.claimed_lane from owed_delivery as d force index (owed_delivery_claimed)
        where d.claimed_lane > concat(substring_index(claimed.lane, '!', 1), '"')
        and d.claimed_lane < $2
        order by d.claimed_lane limit 1)
    from claimed where claimed.lane is not null
)
select lane from owed where instr(lane, '!') = 0
union
select lane from claimed where instr(lane, '!') = 0
