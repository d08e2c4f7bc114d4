-- The same as event_insert, and owes the event to receivers that the firing process declares, unless the
-- catalogue has them.
-- Parameters: those of event_insert, and arrays: key, lane, kind, max_attempts, due (in microseconds after
-- the event's).
-- Columns: the new id, null: the dedupe key is taken; the number of the open transaction, see xid.
-- Index: unique (dedupe_key), unique (event_id, receiver_key, target_digest).
select owed_event_insert($1::bytea, $2::text, $3::bigint, $4::text, $5::text, $6::timestamptz,
    $7::timestamptz, $8::timestamptz, $9::text, $10::text, $11::text, $12::text, $13::bigint,
    $14::text, $15::text[], $16::text[], $17::text[], $18::bigint[], $19::bigint[]),
    pg_current_xact_id_if_assigned()::text::bigint
