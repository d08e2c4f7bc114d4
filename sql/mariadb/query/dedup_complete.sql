-- Keeps what came of it, for as long as the key is known, if it is still claimed by that sender.
-- Parameters: the key, token, receipt, until when.
-- Index: the primary key.
update owed_dedup set receipt = $3, expires_at = $4
where dedup_key = $1 and token = $2 and receipt = ''
