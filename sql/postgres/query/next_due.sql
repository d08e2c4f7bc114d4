-- When can the next row of these lanes be claimed?
-- Parameters: a JSON array of lanes, kind.
-- Columns: the moment, or null.
-- Index: owed_delivery_owed, owed_delivery_claimed.
select owed_next_due(array(select json_array_elements_text($1::text::json)), $2::text, null)
