-- The same as claim_lanes for one lane.
-- Parameters: lane, kind, now, how many, the mark of claim_lanes,
-- claimed_by, lease_expires_at, the most bytes of payloads, how many rows with losses go together.
-- Columns: those of claim_fetch, as they were before the claim.
-- Index: owed_delivery_owed, owed_delivery_claimed, the primary keys.
select id, status, claimed_at, lease_expires_at, losses, event_id, receiver_key, target, lane, attempts,
    max_attempts, available_at, due_at, uid, name, version, payload, occurred_at, recorded_at, actor_key,
    actor_label, scope, correlation_id, traceparent
from owed_claim_lane($1::text, $2::text, $3::timestamptz, $4::bigint, $5::timestamptz, $6::text,
    $7::timestamptz, $8::bigint, $9::bigint)
