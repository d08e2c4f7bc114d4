-- Claims a key that nobody has.
-- Parameters: the key, token, until when.
-- Index: the primary key.
insert into owed_dedup (dedup_key, token, expires_at) values ($1, $2, $3)
on conflict (dedup_key) do nothing
