-- Claims what is owed for the first time, and due, of some events to some receivers, in the order of the
-- queue; in whatever lane, but not while the receiver is paused.
-- Parameters: a JSON array of event ids, a JSON array of receiver keys, kind, now, how many,
-- claimed_by, lease_expires_at, the most bytes of payloads, how many rows with losses go together.
-- Columns: those of claim_fetch, as they were before the claim.
-- Index: unique (event_id, receiver_key, target_digest), the primary keys.
select id, status, claimed_at, lease_expires_at, losses, event_id, receiver_key, target, lane, attempts,
    max_attempts, available_at, due_at, uid, name, version, payload, occurred_at, recorded_at, actor_key,
    actor_label, scope, correlation_id, traceparent
from owed_claim(array(select owed_pick_events(translate($1::text, '[]', '{}')::bigint[],
        array(select json_array_elements_text($2::text::json)), $3::text, $4::timestamptz,
        $5::bigint)),
    $6::text, $4::timestamptz, $7::timestamptz, $8::bigint, $9::bigint)
