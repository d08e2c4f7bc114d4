-- Nothing more goes to an endpoint; of several that say so, one changes it.
-- Parameters: id, now, why.
-- Index: the primary key.
update owed_endpoint set disabled_at = $2::timestamptz, disabled_reason = $3::text, updated_at = $2::timestamptz
where id = $1::text and disabled_at = timestamptz 'epoch'
