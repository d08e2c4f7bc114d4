-- Makes events of a name owed once more to those who want them now and whose delivery has ended, as if they had just
-- been fired. What is owed or held stays as it is. Targets are named anew by who expands them; endpoints are those that
-- it was owed to, as far as they are there and not disabled.
-- Parameters: a JSON array of ids, their name, a JSON array of receiver keys (empty: any), now, the side lane without
-- its app (empty: the receiver's own lane).
-- Index: unique (event_id, receiver_key, target_digest).
update json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_delivery as d force index (owed_delivery_once) on d.event_id = picked.id
straight_join owed_receiver as r on r.`key` = d.receiver_key
set d.attempts = 0, d.losses = 0, d.available_at = $4, d.due_at = $4, d.last_error = '',
    d.completed_at = '1970-01-01 00:00:00', d.claimed_by = '', d.lease_expires_at = '1970-01-01 00:00:00', d.max_attempts = r.max_attempts,
    d.lane = case when $5 = '' then r.stored_lane when r.paused_at > '1970-01-01 00:00:00' then concat(r.app, '/!', $5) else concat(r.app, '/', $5) end,
    d.kind = r.kind, d.status = 'pending'
where d.status in ('succeeded', 'dead', 'orphaned', 'cancelled')
and ((d.target_digest = x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' and d.kind <> 'expand' and r.targets = 'none')
    or (r.targets = 'endpoints' and exists (select 1 from owed_endpoint as e where e.id = d.target and e.disabled_at = '1970-01-01 00:00:00')))
and r.event_name in ($2, '*') and r.mode = 'durable' and r.removed_at = '1970-01-01 00:00:00'
and ($3 = '[]' or json_contains($3, json_quote(r.`key`)))
