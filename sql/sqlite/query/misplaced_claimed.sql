-- The same as misplaced for rows that somebody holds or gave back, of every receiver: they come back to
-- the lane that stands on them.
-- Parameters: how many at most.
-- Columns: id.
-- Index: owed_delivery_claimed; it holds only what is claimed now.
select d.id from owed_delivery as d indexed by owed_delivery_claimed
join owed_receiver as r on r.key = d.receiver_key
where d.status = 'claimed'
and (d.lane <> case when instr(replace(d.lane, '/!+', '/+'), r.app || '/+') <> 1 then r.stored_lane
        when r.paused_at > 0 then replace(d.lane, '/+', '/!+') else replace(d.lane, '/!+', '/+') end
    or (d.kind <> r.kind and not (d.kind = 'expand' and r.targets = 'callback')))
limit $1
