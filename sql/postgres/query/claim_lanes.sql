-- Claims what is due in some lanes, and what lapsed there, in the order of the queue.
-- Parameters: a JSON array of lanes, kind, now, how many, the mark: what was due before it is left out, and
-- of what is claimed all but what was handed back (null: nothing is left out),
-- claimed_by, lease_expires_at, the most bytes of payloads, how many rows with losses go together.
-- Columns: those of claim_fetch, as they were before the claim.
-- Index: owed_delivery_owed, owed_delivery_claimed, the primary keys.
select id, status, claimed_at, lease_expires_at, losses, event_id, receiver_key, target, lane, attempts,
    max_attempts, available_at, due_at, uid, name, version, payload, occurred_at, recorded_at, actor_key,
    actor_label, scope, correlation_id, traceparent
from owed_claim(array(select owed_pick(
        array(select json_array_elements_text($1::text::json)),
        $2::text, $3::timestamptz, $4::bigint, null, null, $5::timestamptz)),
    $6::text, $3::timestamptz, $7::timestamptz, $8::bigint, $9::bigint)
