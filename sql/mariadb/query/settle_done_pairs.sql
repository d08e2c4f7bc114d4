-- Writes plain successes of one claim, where the rows are still held under its fence.
-- Parameters: a JSON array of pairs, an id and the moment of its outcome in microseconds; claimed_by,
-- claimed_at, attempts.
-- Index: the primary key.
update json_table($1, '$[*]' columns (id bigint path '$[0]', at bigint path '$[1]')) as done
straight_join owed_delivery as d on d.id = done.id
set d.status = 'succeeded', d.attempts = $4, d.losses = 0, d.last_error = '',
    d.completed_at = timestamp '1970-01-01 00:00:00' + interval done.at microsecond,
    d.succeeded_at = timestamp '1970-01-01 00:00:00' + interval done.at microsecond,
    d.lease_expires_at = '1970-01-01 00:00:00'
where d.status = 'claimed' and d.claimed_by = $2 and d.claimed_at = $3
