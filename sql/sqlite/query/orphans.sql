-- Owed rows of a receiver that is no more. A row that somebody holds stays with its holder.
-- Parameters: receiver key, now, only of events recorded at or before this moment, how many at most.
-- Columns: id.
-- Index: owed_delivery_by_receiver, owed_delivery_claimed.
select id from (
    select d.id from owed_delivery as d left join owed_event as e on e.id = d.event_id
    where d.receiver_key = $1 and d.status in ('pending', 'failed')
    and coalesce(e.recorded_at, 0) <= $3
    union all
    select d.id from owed_delivery as d indexed by owed_delivery_claimed
    left join owed_event as e on e.id = d.event_id
    where d.receiver_key = $1 and d.status = 'claimed' and d.lease_expires_at < $2
    and coalesce(e.recorded_at, 0) <= $3
)
limit $4
