-- Claims one row, if it is owed, due, and held by nobody.
-- Parameters: id, now,
-- claimed_by, lease_expires_at, the most bytes of payloads, how many rows with losses go together.
-- Columns: those of claim_fetch, as they were before the claim.
-- Index: the primary keys.
select id, status, claimed_at, lease_expires_at, losses, event_id, receiver_key, target, lane, attempts,
    max_attempts, available_at, due_at, uid, name, version, payload, occurred_at, recorded_at, actor_key,
    actor_label, scope, correlation_id, traceparent
from owed_claim(array(select owed_pick_one($1::bigint, $2::timestamptz)),
    $3::text, $2::timestamptz, $4::timestamptz, $5::bigint, $6::bigint)
