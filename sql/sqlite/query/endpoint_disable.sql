-- Nothing more goes to an endpoint; of several that say so, one changes it.
-- Parameters: id, now, why.
-- Index: the primary key.
update owed_endpoint set disabled_at = $2, disabled_reason = $3, updated_at = $2
where id = $1 and disabled_at = 0
