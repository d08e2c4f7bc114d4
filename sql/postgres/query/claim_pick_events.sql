-- What is owed for the first time, and due, of some events to some receivers, in the order of the queue;
-- in whatever lane, but not while the receiver is paused.
-- Parameters: a JSON array of event ids, a JSON array of receiver keys, kind, now, how many.
-- Columns: id.
-- Index: unique (event_id, receiver_key, target_digest).
select owed_pick_events(translate($1::text, '[]', '{}')::bigint[],
    array(select json_array_elements_text($2::text::json)), $3::text, $4::timestamptz, $5::bigint)
