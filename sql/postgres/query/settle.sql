-- Writes the outcome of an attempt, if the row is still held under the fence.
-- Parameters: id, claimed_by, claimed_at; status, attempts, available_at where it is owed again (and
-- due_at where it is pending: it is due later, and last_error stays), last_error, completed_at,
-- succeeded_at (0 keeps what stood there).
-- Index: the primary key.
select from owed_settle($1::bigint, $2::text, $3::timestamptz, $4::text, $5::bigint, $6::timestamptz,
    $7::text, $8::timestamptz, $9::timestamptz)
