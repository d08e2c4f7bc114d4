-- An endpoint is tried again, with nothing to its discredit.
-- Parameters: id, now.
-- Index: the primary key.
update owed_endpoint set disabled_at = timestamptz 'epoch', disabled_reason = '', dead_in_row = 0, updated_at = $2::timestamptz
where id = $1::text and disabled_at <> timestamptz 'epoch'
