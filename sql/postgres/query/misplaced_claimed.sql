-- The same as misplaced for rows that somebody holds or gave back, of every receiver: they come back to
-- the lane that stands on them.
-- Parameters: how many at most.
-- Columns: id.
-- Index: owed_delivery_claimed; it holds only what is claimed now.
select d.id from owed_delivery as d
join owed_receiver as r on r.key = d.receiver_key
where d.status = 'claimed'
and (d.lane <> r.stored_lane
    or (d.kind <> r.kind and not (d.kind = 'expand' and r.targets = 'callback')))
limit $1::bigint
for no key update of d skip locked
