-- The lanes of an app in which anything is owed, paused ones (lane, "!" and a receiver's key) left
-- out. Steps from lane to lane by index, however many rows they hold: from a lane it seeks past all
-- that begin with it and "!", since a lane's words have no sign that sorts before "-".
-- Parameters: the first text that can be a lane of the app ("app/"), the first one past them ("app0").
-- Columns: lane.
-- Index: owed_delivery_owed, owed_delivery_claimed.
with recursive
owed (lane) as (
    select (select min(lane) from owed_delivery
        where status in ('pending', 'failed') and lane >= $1 and lane < $2)
    union all
    select (select min(lane) from owed_delivery
        where status in ('pending', 'failed') and lane < $2
        and lane > substr(owed.lane, 1, instr(owed.lane || '!', '!') - 1) || '"')
    from owed where owed.lane is not null
),
claimed (lane) as (
    select (select min(lane) from owed_delivery
        where status = 'claimed' and lane >= $1 and lane < $2)
    union all
    select (select min(lane) from owed_delivery
        where status = 'claimed' and lane < $2
        and lane > substr(claimed.lane, 1, instr(claimed.lane || '!', '!') - 1) || '"')
    from claimed where claimed.lane is not null
)
select lane from owed where instr(lane, '!') = 0
union
select lane from claimed where instr(lane, '!') = 0
