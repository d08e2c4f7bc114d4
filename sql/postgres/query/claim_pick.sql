-- Which rows can be claimed, in the order of the queue: those that are due, and claimed ones whose
-- lease is over (one that ends this moment still holds). One short index scan for each lane and arm.
-- Parameters: a JSON array of lanes, kind, now, how many.
-- Columns: id.
-- Index: owed_delivery_owed, owed_delivery_claimed.
select owed_pick(array(select json_array_elements_text($1::text::json)), $2::text, $3::timestamptz,
    $4::bigint, null, null)
