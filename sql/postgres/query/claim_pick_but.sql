-- The same as claim_pick, without the rows of some targets, and of receivers that are not named.
-- Parameters: a JSON array of lanes, kind, now, how many, a JSON array of receiver keys or null for
-- all, a JSON array of targets: the digest in small hex digits, followed by the receiver's key.
-- Columns: id.
-- Index: owed_delivery_owed, owed_delivery_claimed.
select owed_pick(array(select json_array_elements_text($1::text::json)), $2::text, $3::timestamptz,
    $4::bigint,
    case when $5::text is not null then array(select json_array_elements_text($5::json)) end,
    array(select json_array_elements_text($6::text::json)))
