-- Writes the outcome of an attempt, if the row is still held under the fence.
-- Parameters: id, claimed_by, claimed_at; status, attempts, available_at where it is owed again (and
-- due_at where it is pending: it is due later, and last_error stays), last_error, completed_at,
-- succeeded_at (not yet keeps what stood there).
-- The moment is cast: beside a text a parameter would be taken for a text as well.
-- Index: the primary key.
update owed_delivery
set status = $4, attempts = $5, losses = 0, completed_at = $8,
    last_error = if($4 = 'pending', last_error, $7),
    available_at = if($4 in ('failed', 'pending'), $6, available_at),
    due_at = if($4 = 'pending', $6, due_at),
    succeeded_at = if(cast($9 as datetime(6)) = '1970-01-01 00:00:00', succeeded_at, $9),
    lease_expires_at = '1970-01-01 00:00:00'
where id = $1 and status = 'claimed' and claimed_by = $2 and claimed_at = $3
