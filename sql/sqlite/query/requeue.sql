-- Makes ended rows owed again, in the lane and kind that their receiver has now.
-- Parameters: a JSON array of ids, now.
-- Index: the primary key.
update owed_delivery
set status = 'pending', attempts = 0, losses = 0, available_at = $2, due_at = $2, last_error = '',
    completed_at = 0, claimed_by = '', lease_expires_at = 0,
    lane = coalesce((select r.stored_lane from owed_receiver as r
        where r.key = owed_delivery.receiver_key), lane),
    kind = coalesce((select r.kind from owed_receiver as r
        where r.key = owed_delivery.receiver_key and owed_delivery.kind <> 'expand'), kind)
where id in (select value from json_each($1)) and status in ('dead', 'orphaned')
