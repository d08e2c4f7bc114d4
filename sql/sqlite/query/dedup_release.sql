-- Gives a key back, if it is still claimed by that sender.
-- Parameters: the key, token.
-- Index: the primary key.
delete from owed_dedup where dedup_key = $1 and token = $2 and receipt = ''
