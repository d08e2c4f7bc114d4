-- Writes plain successes of one claim, where the rows are still held under its fence.
-- Parameters: a JSON object of ids and the moments of their outcomes, claimed_by, claimed_at, attempts.
-- Index: the primary key; the "+" keeps it from walking all that is claimed.
update owed_delivery
set status = 'succeeded', attempts = $4, losses = 0, completed_at = done.value,
    last_error = '', succeeded_at = done.value, lease_expires_at = 0
from json_each($1) as done
where owed_delivery.id = done.key and +status = 'claimed' and claimed_by = $2 and claimed_at = $3
