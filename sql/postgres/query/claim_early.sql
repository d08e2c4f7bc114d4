-- Claims what one call may claim before its time, in the order of the queue. Leases end by the clock,
-- whatever the call takes for now; what is due later is left, also where backoff is ignored.
-- Parameters: a JSON array of lanes, kind, now, how many, a JSON array of receiver keys, due until,
-- whether backoff is ignored, a JSON array of ids to leave, one of targets to leave (the digest in small
-- hex digits, followed by the receiver's key),
-- claimed_by, lease_expires_at, the most bytes of payloads, how many rows with losses go together.
-- Columns: those of claim_fetch, as they were before the claim.
-- Index: owed_delivery_owed, owed_delivery_claimed, the primary keys.
select id, status, claimed_at, lease_expires_at, losses, event_id, receiver_key, target, lane, attempts,
    max_attempts, available_at, due_at, uid, name, version, payload, occurred_at, recorded_at, actor_key,
    actor_label, scope, correlation_id, traceparent
from owed_claim(array(select owed_pick_early(
        array(select json_array_elements_text($1::text::json)),
        $2::text, $3::timestamptz, $4::bigint, array(select json_array_elements_text($5::text::json)),
        $6::timestamptz, $7::bigint <> 0, translate($8::text, '[]', '{}')::bigint[],
        array(select json_array_elements_text($9::text::json)))),
    $10::text, $3::timestamptz, $11::timestamptz, $12::bigint, $13::bigint)
