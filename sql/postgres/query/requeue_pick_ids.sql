-- Which of these rows can be owed again?
-- Parameters: a JSON array of ids, receiver key (empty: any), orphaned ones too (1 or 0).
-- Columns: id.
-- Index: the primary key.
select d.id from owed_delivery as d
where d.id = any (translate($1::text, '[]', '{}')::bigint[]) and ($2::text = '' or d.receiver_key = $2)
and (d.status = 'dead' or (d.status = 'orphaned' and $3::bigint = 1 and exists (
    select from owed_receiver as r where r.key = d.receiver_key and r.removed_at = timestamptz 'epoch')))
order by d.id
for no key update of d skip locked
