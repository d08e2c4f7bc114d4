-- Owed rows of a receiver that is no more. A row that somebody holds stays with its holder.
-- Parameters: receiver key, now, only of events recorded at or before this moment, how many at most.
-- Columns: id.
-- Index: owed_delivery_by_receiver, owed_delivery_claimed.
select d.id from (
    select owed.id from owed_delivery as owed
    left join owed_event as e on e.id = owed.event_id
    where owed.receiver_key = $1::text and owed.status in ('pending', 'failed')
    and coalesce(e.recorded_at, timestamptz 'epoch') <= $3::timestamptz
    union all
    select held.id from owed_delivery as held
    left join owed_event as e on e.id = held.event_id
    where held.receiver_key = $1 and held.status = 'claimed'
    and held.lease_expires_at < $2::timestamptz
    and coalesce(e.recorded_at, timestamptz 'epoch') <= $3
    limit $4::bigint
) as found
join owed_delivery as d on d.id = found.id
where d.status in ('pending', 'failed') or (d.status = 'claimed' and d.lease_expires_at < $2)
for no key update of d skip locked
