-- Makes events of a name owed once more to those who want them now and whose delivery has ended, as if they had just
-- been fired. What is owed or held stays as it is. Targets are named anew by who expands them; endpoints are those that
-- it was owed to, as far as they are there and not disabled.
-- Parameters: a JSON array of ids, their name, a JSON array of receiver keys (empty: any), now, the side lane without
-- its app (empty: the receiver's own lane).
-- Index: unique (event_id, receiver_key, target_digest).
update owed_delivery
set status = 'pending', attempts = 0, losses = 0, available_at = $4, due_at = $4, last_error = '',
    completed_at = 0, claimed_by = '', lease_expires_at = 0, max_attempts = r.max_attempts,
    lane = case when $5 = '' then r.stored_lane when r.paused_at > 0 then r.app || '/!' || $5 else r.app || '/' || $5 end,
    kind = r.kind
from owed_receiver as r
where r.key = owed_delivery.receiver_key and event_id in (select value from json_each($1)) and status in ('succeeded', 'dead', 'orphaned', 'cancelled')
and ((target_digest = x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' and owed_delivery.kind <> 'expand' and r.targets = 'none')
    or (r.targets = 'endpoints' and exists (select 1 from owed_endpoint as e where e.id = owed_delivery.target and e.disabled_at = 0)))
and r.event_name in ($2, '*') and r.mode = 'durable' and r.removed_at = 0
and ($3 = '[]' or r.key in (select value from json_each($3)))
