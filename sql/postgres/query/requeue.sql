-- Makes ended rows owed again, in the lane and kind that their receiver has now.
-- Parameters: a JSON array of ids, now.
-- Index: the primary key.
update owed_delivery as d
set status = 'pending', attempts = 0, losses = 0, available_at = $2::timestamptz, due_at = $2,
    last_error = '', completed_at = timestamptz 'epoch', claimed_by = '',
    lease_expires_at = timestamptz 'epoch',
    lane = coalesce((select r.stored_lane from owed_receiver as r where r.key = d.receiver_key), d.lane),
    kind = coalesce((select r.kind from owed_receiver as r
        where r.key = d.receiver_key and d.kind <> 'expand'), d.kind)
where d.id = any (translate($1::text, '[]', '{}')::bigint[]) and d.status in ('dead', 'orphaned')
