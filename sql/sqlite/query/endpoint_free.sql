-- Rows that were put off are due at once; those that are not pending any more stay as they are.
-- Parameters: a JSON array of ids, now.
-- Index: the primary key.
update owed_delivery set available_at = $2, due_at = $2
where id in (select value from json_each($1)) and status = 'pending'
