-- The same as claim_lanes, without the rows of some targets, and of receivers that are not named.
-- Parameters: a JSON array of lanes, kind, now, how many, a JSON array of receiver keys or null for
-- all, a JSON array of targets: the digest in small hex digits, followed by the receiver's key, the mark
-- of claim_lanes,
-- claimed_by, lease_expires_at, the most bytes of payloads, how many rows with losses go together.
-- Columns: those of claim_fetch, as they were before the claim.
-- Index: owed_delivery_owed, owed_delivery_claimed, the primary keys.
select id, status, claimed_at, lease_expires_at, losses, event_id, receiver_key, target, lane, attempts,
    max_attempts, available_at, due_at, uid, name, version, payload, occurred_at, recorded_at, actor_key,
    actor_label, scope, correlation_id, traceparent
from owed_claim(array(select owed_pick(
        array(select json_array_elements_text($1::text::json)),
        $2::text, $3::timestamptz, $4::bigint,
        case when $5::text is not null then array(select json_array_elements_text($5::json)) end,
        array(select json_array_elements_text($6::text::json)), $7::timestamptz)),
    $8::text, $3::timestamptz, $9::timestamptz, $10::bigint, $11::bigint)
