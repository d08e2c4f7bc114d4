-- Writes the outcome of an attempt, if the row is still held under the fence.
-- Parameters: id, claimed_by, claimed_at; status, attempts, available_at where it is owed again (and
-- due_at where it is pending: it is due later, and last_error stays), last_error, completed_at,
-- succeeded_at (0 keeps what stood there).
-- Index: the primary key.
update owed_delivery
set status = $4, attempts = $5, losses = 0, completed_at = $8,
    last_error = case $4 when 'pending' then last_error else $7 end,
    available_at = case when $4 = 'failed' or $4 = 'pending' then $6 else available_at end,
    due_at = case $4 when 'pending' then $6 else due_at end,
    succeeded_at = case $9 when 0 then succeeded_at else $9 end, lease_expires_at = 0
where id = $1 and status = 'claimed' and claimed_by = $2 and claimed_at = $3
