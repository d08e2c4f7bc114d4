-- What came of it; nothing: it is being sent.
-- Parameters: the key.
-- Columns: receipt.
-- Index: the primary key.
select receipt from owed_dedup where dedup_key = $1
