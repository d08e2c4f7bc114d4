-- Writes several events, with the retention that the catalogue has for their names, and owes them to the
-- catalogue's receivers and to those that the firing process declares, unless the catalogue has them.
-- Parameters: arrays of what event_insert takes, in order: uid, name, version, payload,
-- dedupe key or null, occurred_at, recorded_at, due_at, actor_key, actor_label, scope, correlation_id,
-- causation_id or null, traceparent. Then of receivers that the process declares: the event's name, key,
-- lane, kind, max_attempts, due (in microseconds after the event's).
-- Columns: of each event in order its id, and whether it is new. Where the dedupe key was taken it is the
-- other event's; null: that is gone.
-- Index: unique (dedupe_key), unique (event_id, receiver_key, target_digest).
select id, is_new from owed_events_insert($1::bytea[], $2::text[], $3::bigint[], $4::text[], $5::text[],
    $6::timestamptz[], $7::timestamptz[], $8::timestamptz[], $9::text[], $10::text[], $11::text[],
    $12::text[], $13::bigint[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[],
    $19::bigint[], $20::bigint[])
