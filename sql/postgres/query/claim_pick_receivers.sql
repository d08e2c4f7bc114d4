-- The same as claim_pick, for a relay that can run only some of a lane's receivers.
-- Parameters: a JSON array of lanes, kind, now, how many, a JSON array of receiver keys.
-- Columns: id.
-- Index: owed_delivery_by_receiver, owed_delivery_claimed.
select owed_pick_receivers(array(select json_array_elements_text($1::text::json)), $2::text,
    $3::timestamptz, $4::bigint, array(select json_array_elements_text($5::text::json)))
