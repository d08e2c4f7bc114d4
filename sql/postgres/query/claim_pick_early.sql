-- Which rows one call may claim before their time, in the order of the queue. Leases end by the clock,
-- whatever the call takes for now; what is due later is left, also where backoff is ignored.
-- Parameters: a JSON array of lanes, kind, now, how many, a JSON array of receiver keys, due until,
-- whether backoff is ignored, a JSON array of ids to leave, one of targets to leave (the digest in small
-- hex digits, followed by the receiver's key).
-- Columns: id.
-- Index: owed_delivery_owed, owed_delivery_claimed.
select owed_pick_early(array(select json_array_elements_text($1::text::json)), $2::text,
    $3::timestamptz, $4::bigint, array(select json_array_elements_text($5::text::json)),
    $6::timestamptz, $7::bigint <> 0, translate($8::text, '[]', '{}')::bigint[],
    array(select json_array_elements_text($9::text::json)))
