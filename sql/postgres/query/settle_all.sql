-- Writes the outcomes of several attempts, and what is kept of them, in one round trip.
-- Parameters: arrays, as text, of what settle takes: id, claimed_by, claimed_at, status, attempts,
-- completed_at, succeeded_at, available_at, last_error; and of verdict (null: nothing is kept), attempt,
-- started_at, duration, code, error and excerpt; times in microseconds since 1970. Where nothing is put off
-- and all succeeded under the claims of one, he is named once, and status, completed_at and all from
-- available_at on are empty; but where the attempt is kept of each, the verdict is named once, too, and
-- started_at, duration, code and excerpt are there.
-- Columns: of each row that was still held under its fence its place in the arrays, from 1.
-- Index: the primary key.
select owed_settle_all($1::text::bigint[], $2::text::text[], $3::text::bigint[], $4::text::text[],
    $5::text::integer[], $6::text::bigint[], $7::text::bigint[], $8::text::bigint[], $9::text::text[],
    $10::text::text[], $11::text::integer[], $12::text::bigint[], $13::text::bigint[],
    $14::text::integer[], $15::text::text[], $16::text::text[])
