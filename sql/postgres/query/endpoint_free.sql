-- Rows that were put off are due at once; those that are not pending any more stay as they are.
-- Parameters: a JSON array of ids, now.
-- Index: the primary key.
update owed_delivery set available_at = $2::timestamptz, due_at = $2
where id = any (translate($1::text, '[]', '{}')::bigint[]) and status = 'pending'
