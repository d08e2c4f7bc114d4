-- One row, if it is owed, due, and held by nobody.
-- Parameters: id, now.
-- Columns: id.
-- Index: the primary key.
select id from owed_delivery
where id = $1::bigint and ((status = 'pending' and due_at <= $2::timestamptz)
    or (status = 'failed' and available_at <= $2) or (status = 'claimed' and lease_expires_at < $2))
for no key update skip locked
