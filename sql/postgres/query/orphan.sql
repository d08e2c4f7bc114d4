-- Ends owed rows as orphaned.
-- Parameters: a JSON array of ids, now, the sentence.
-- Index: the primary key.
select from owed_orphan(translate($1::text, '[]', '{}')::bigint[], $2::timestamptz, $3::text)
