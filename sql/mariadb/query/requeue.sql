-- Makes ended rows owed again, in the lane and kind that their receiver has now.
-- Parameters: a JSON array of ids, now.
-- Index: the primary key.
update json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_delivery as d on d.id = picked.id
left join owed_receiver as r on r.`key` = d.receiver_key
set d.attempts = 0, d.losses = 0, d.available_at = $2, d.due_at = $2, d.last_error = '',
    d.completed_at = '1970-01-01 00:00:00', d.claimed_by = '',
    d.lease_expires_at = '1970-01-01 00:00:00',
    d.lane = coalesce(r.stored_lane, d.lane),
    d.kind = if(r.`key` is null or d.kind = 'expand', d.kind, r.kind),
    d.status = 'pending'
where d.status in ('dead', 'orphaned')
