-- The same as misplaced for who only looks, beside work under way: what is locked here no claim would take.
-- Parameters: receiver key, how many at most.
-- Columns: id.
-- Index: owed_delivery_by_receiver.
select id from (
    (select d.id from owed_delivery as d force index (owed_delivery_by_receiver)
        where d.owed_receiver_key = $1
        and d.lane < (select concat(r.app, if(r.paused_at > '1970-01-01 00:00:00', '/!+', '/+'))
            from owed_receiver as r where r.`key` = $1)
        limit $2)
    union all
    (select d.id from owed_delivery as d force index (owed_delivery_by_receiver)
        where d.owed_receiver_key = $1
        and d.lane >= (select concat(r.app, if(r.paused_at > '1970-01-01 00:00:00', '/!,', '/,'))
            from owed_receiver as r where r.`key` = $1)
        and d.lane < (select r.stored_lane from owed_receiver as r where r.`key` = $1)
        limit $2)
    union all
    (select d.id from owed_delivery as d force index (owed_delivery_by_receiver)
        where d.owed_receiver_key = $1
        and d.lane > (select r.stored_lane from owed_receiver as r where r.`key` = $1)
        limit $2)
    union all
    (select side.id from owed_delivery as side force index (owed_delivery_by_receiver)
        join owed_receiver as r on r.`key` = $1
        where side.owed_receiver_key = $1
        and side.lane >= (select concat(r.app, if(r.paused_at > '1970-01-01 00:00:00', '/!+', '/+'))
            from owed_receiver as r where r.`key` = $1)
        and side.lane < (select concat(r.app, if(r.paused_at > '1970-01-01 00:00:00', '/!,', '/,'))
            from owed_receiver as r where r.`key` = $1)
        and side.kind <> r.kind and not (side.kind = 'expand' and r.targets = 'callback')
        limit $2)
    union all
    (select d.id from owed_delivery as d force index (owed_delivery_by_receiver)
        where d.owed_receiver_key = $1 and d.kind = 'inside'
        and d.lane = (select r.stored_lane from owed_receiver as r
            where r.`key` = $1 and r.kind <> 'inside')
        limit $2)
    union all
    (select d.id from owed_delivery as d force index (owed_delivery_by_receiver)
        where d.owed_receiver_key = $1 and d.kind = 'outside'
        and d.lane = (select r.stored_lane from owed_receiver as r
            where r.`key` = $1 and r.kind <> 'outside')
        limit $2)
    union all
    (select d.id from owed_delivery as d force index (owed_delivery_by_receiver)
        where d.owed_receiver_key = $1 and d.kind = 'task'
        and d.lane = (select r.stored_lane from owed_receiver as r
            where r.`key` = $1 and r.kind <> 'task')
        limit $2)
    union all
    (select d.id from owed_delivery as d force index (owed_delivery_by_receiver)
        where d.owed_receiver_key = $1 and d.kind = 'expand'
        and d.lane = (select r.stored_lane from owed_receiver as r
            where r.`key` = $1 and r.kind <> 'expand' and r.targets <> 'callback')
        limit $2)
) as misplaced
limit $2
