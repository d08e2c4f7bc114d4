-- Keeps one attempt.
-- Parameters: delivery_id, attempt, started_at, duration, verdict, code, error, excerpt.
-- Index: none.
insert into owed_attempt (delivery_id, attempt, started_at, duration, verdict, code, error, excerpt)
values ($1::bigint, $2::bigint, $3::timestamptz, $4::bigint, $5::text, $6::bigint, $7::text, $8::text)
