-- Which of these rows can be owed again?
-- Parameters: a JSON array of ids, receiver key (empty: any), orphaned ones too (1 or 0), a text
-- that the error holds (empty: any), ended from when, until when.
-- Columns: id, event_id.
-- Index: the primary key.
select d.id, d.event_id from owed_delivery as d
where d.id = any (translate($1::text, '[]', '{}')::bigint[]) and ($2::text = '' or d.receiver_key = $2)
and position($4::text in d.last_error) > 0 and d.completed_at >= $5::timestamptz and d.completed_at < $6::timestamptz
and (d.status = 'dead' or (d.status = 'orphaned' and $3::bigint = 1 and exists (
    select from owed_receiver as r where r.key = d.receiver_key and r.removed_at = timestamptz 'epoch')))
order by d.id
