-- An endpoint is tried again, with nothing to its discredit.
-- Parameters: id, now.
-- Index: the primary key.
update owed_endpoint set disabled_at = 0, disabled_reason = '', dead_in_row = 0, updated_at = $2
where id = $1 and disabled_at <> 0
