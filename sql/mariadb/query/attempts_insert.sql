-- Keeps the attempts of several successes of one claim, where the rows are still held under its fence, and
-- locks these.
-- Parameters: a JSON array of arrays, delivery_id, started_at in microseconds, duration, code and excerpt of
-- each; claimed_by, claimed_at, attempt.
-- Index: the primary key.
insert into owed_attempt (delivery_id, attempt, started_at, duration, verdict, code, excerpt)
select kept.id, $4, timestamp '1970-01-01 00:00:00' + interval kept.started_at microsecond, kept.duration,
    'succeeded', kept.code, kept.excerpt
from json_table($1, '$[*]' columns (id bigint path '$[0]', started_at bigint path '$[1]',
    duration bigint path '$[2]', code int path '$[3]', excerpt mediumtext path '$[4]')) as kept
straight_join owed_delivery as d on d.id = kept.id
where d.status = 'claimed' and d.claimed_by = $2 and d.claimed_at = $3
for update
