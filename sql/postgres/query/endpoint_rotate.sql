-- A new secret, and until when the one before it signs as well; none while an overlap lasts, but without another.
-- Parameters: id, secret, previous_until, now.
-- Index: the primary key.
update owed_endpoint
set previous_secret = case when $3::timestamptz > $4::timestamptz then secret else '' end, previous_until = $3::timestamptz,
    secret = $2::text, updated_at = $4::timestamptz
where id = $1::text and ($3::timestamptz <= $4::timestamptz or previous_until <= $4::timestamptz)
