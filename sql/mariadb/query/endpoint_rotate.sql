-- A new secret, and until when the one before it signs as well; none while an overlap lasts, but without another.
-- Parameters: id, secret, previous_until, now.
-- Index: the primary key.
update owed_endpoint
set previous_secret = case when $3 > $4 then secret else '' end, previous_until = $3,
    secret = $2, updated_at = $4
where id = $1 and ($3 <= $4 or previous_until <= $4)
