-- Writes the outcomes of several attempts, and what is kept of them, in one round trip.
-- Parameters: arrays of what settle takes: id, claimed_by, claimed_at, status, attempts, completed_at,
-- succeeded_at, available_at, last_error; and of verdict (null: nothing is kept), attempt, started_at,
-- duration, code, error and excerpt. Where nothing is put off and all succeeded under the claims of one, he
-- is named once, and status, completed_at and all from available_at on are empty; but where the attempt is
-- kept of each, the verdict is named once, too, and started_at, duration, code and excerpt are there.
-- Columns: 0 alone: each row was still held under its fence; else of each that was its place in the arrays,
-- from 1.
-- Index: the primary key.
select owed_settle_all($1::bigint[], $2::text[], $3::timestamptz[], $4::text[], $5::bigint[],
    $6::timestamptz[], $7::timestamptz[], $8::timestamptz[], $9::text[], $10::text[], $11::bigint[],
    $12::timestamptz[], $13::bigint[], $14::bigint[], $15::text[], $16::text[])
