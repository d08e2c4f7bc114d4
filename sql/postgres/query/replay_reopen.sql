-- Makes events of a name owed once more to those who want them now and whose delivery has ended, as if they had just
-- been fired. What is owed or held stays as it is. Targets are named anew by who expands them; endpoints are those that
-- it was owed to, as far as they are there and not disabled.
-- Parameters: a JSON array of ids, their name, a JSON array of receiver keys (empty: any), now, the side lane without
-- its app (empty: the receiver's own lane).
-- Index: unique (event_id, receiver_key, target_digest).
update owed_delivery as d
set status = 'pending', attempts = 0, losses = 0, available_at = $4::timestamptz, due_at = $4, last_error = '',
    completed_at = timestamptz 'epoch', claimed_by = '', lease_expires_at = timestamptz 'epoch', max_attempts = r.max_attempts,
    lane = case when $5::text = '' then r.stored_lane when r.paused_at > timestamptz 'epoch' then r.app || '/!' || $5 else r.app || '/' || $5 end,
    kind = r.kind
from owed_receiver as r
where r.key = d.receiver_key and d.event_id = any (translate($1::text, '[]', '{}')::bigint[]) and d.status || '' in ('succeeded', 'dead', 'orphaned', 'cancelled')
and ((d.target_digest = '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' and d.kind <> 'expand' and r.targets = 'none')
    or (r.targets = 'endpoints' and exists (select from owed_endpoint as e where e.id = d.target and e.disabled_at = timestamptz 'epoch')))
and r.event_name in ($2::text, '*') and r.mode = 'durable' and r.removed_at = timestamptz 'epoch'
and ($3::text = '[]' or r.key in (select json_array_elements_text($3::json)))
