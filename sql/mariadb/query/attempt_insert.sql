-- Keeps one attempt.
-- Parameters: delivery_id, attempt, started_at, duration, verdict, code, error, excerpt.
-- Index: none.
insert into owed_attempt (delivery_id, attempt, started_at, duration, verdict, code, error, excerpt)
values ($1, $2, $3, $4, $5, $6, $7, $8)
