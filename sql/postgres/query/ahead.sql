-- How many due rows of the same lane and kind stand before a row? Counted up to a bound.
-- Parameters: lane, kind, the row's available_at and id, the bound.
-- Columns: the count.
-- Index: owed_delivery_owed.
select count(*) from (
    select from owed_delivery as d
    where d.status in ('pending', 'failed') and d.lane = $1::text and d.kind = $2::text
    and d.available_at <= $3::timestamptz and (d.available_at < $3 or d.id < $4::bigint)
    limit $5::bigint
) as before
