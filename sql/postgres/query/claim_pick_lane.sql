-- The same as claim_pick for one lane: both arms come in order from their indexes and are merged.
-- Parameters: lane, kind, now, how many.
-- Columns: id.
-- Index: owed_delivery_owed, owed_delivery_claimed.
select owed_pick_lane($1::text, $2::text, $3::timestamptz, $4::bigint)
