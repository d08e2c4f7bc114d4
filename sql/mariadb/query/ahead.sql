-- How many due rows of the same lane and kind stand before a row? Counted up to a bound.
-- Parameters: lane, kind, the row's available_at and id, the bound.
-- Columns: the count.
-- Index: owed_delivery_owed.
select count(*) from (
    select 1 from owed_delivery as d force index (owed_delivery_owed)
    where d.owed_lane = $1 and d.kind = $2
    and d.available_at <= $3 and (d.available_at < $3 or d.id < $4)
    limit $5
) as before_it
