-- Claims a key that nobody has.
-- Parameters: the key, token, until when.
-- Index: the primary key.
insert into owed_dedup (dedup_key, token, expires_at) values ($1::text, $2::text, $3::timestamptz)
on conflict (dedup_key) do nothing
