-- Rows that were put off are due at once; those that are not pending any more stay as they are.
-- Parameters: a JSON array of ids, now.
-- Index: the primary key.
update json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_delivery as d on d.id = picked.id
set d.available_at = $2, d.due_at = $2
where d.status = 'pending'
