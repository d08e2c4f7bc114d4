-- The same as claim_lanes, for a relay that can run only some of a lane's receivers.
-- Parameters: a JSON array of lanes, kind, now, how many, a JSON array of receiver keys, the
-- mark of claim_lanes,
-- claimed_by, lease_expires_at, the most bytes of payloads, how many rows with losses go together.
-- Columns: those of claim_fetch, as they were before the claim.
-- Index: owed_delivery_by_receiver, owed_delivery_claimed, the primary keys.
select id, status, claimed_at, lease_expires_at, losses, event_id, receiver_key, target, lane, attempts,
    max_attempts, available_at, due_at, uid, name, version, payload, occurred_at, recorded_at, actor_key,
    actor_label, scope, correlation_id, traceparent
from owed_claim(array(select owed_pick_receivers(
        array(select json_array_elements_text($1::text::json)),
        $2::text, $3::timestamptz, $4::bigint,
        array(select json_array_elements_text($5::text::json)), $6::timestamptz)),
    $7::text, $3::timestamptz, $8::timestamptz, $9::bigint, $10::bigint)
