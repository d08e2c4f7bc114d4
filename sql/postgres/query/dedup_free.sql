-- Frees a key whose time is over, or which the same sender had claimed and did not complete.
-- Parameters: the key, now, token.
-- Index: the primary key.
delete from owed_dedup
where dedup_key = $1::text and (expires_at <= $2::timestamptz or (token = $3::text and receipt = ''))
