-- The same as misplaced_claimed for who only looks, beside work under way: what is locked here no claim would take.
-- Parameters: how many at most.
-- Columns: id.
-- Index: owed_delivery_claimed; it holds only what is claimed now.
select d.id from owed_delivery as d force index (owed_delivery_claimed)
where d.claimed_lane is not null
and exists (select 1 from owed_receiver as r
    where r.`key` = d.receiver_key
    and (d.lane <> case when locate(concat(r.app, '/+'), replace(d.lane, '/!+', '/+')) <> 1 then r.stored_lane
            when r.paused_at > '1970-01-01 00:00:00' then replace(d.lane, '/+', '/!+') else replace(d.lane, '/!+', '/+') end
        or (d.kind <> r.kind and not (d.kind = 'expand' and r.targets = 'callback'))))
limit $1
