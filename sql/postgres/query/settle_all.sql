-- Writes the outcomes of several attempts, and what is kept of them, in one round trip.
-- Parameters: a JSON array of objects: the parameters of settle, and verdict (null: nothing is kept),
-- attempt, started_at, duration, code, error and excerpt; times in microseconds since 1970.
-- Columns: of each row that was still held under its fence its place in the array, from 1.
-- Index: the primary key.
select owed_settle_all($1::text::json)
