-- The same as next_due, for a relay that can run only some of a lane's receivers.
-- Parameters: a JSON array of lanes, kind, a JSON array of receiver keys.
-- Columns: the moment, or null.
-- Index: owed_delivery_by_receiver, owed_delivery_claimed.
select owed_next_due(array(select json_array_elements_text($1::text::json)), $2::text,
    array(select json_array_elements_text($3::text::json)))
