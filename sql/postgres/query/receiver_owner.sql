-- Whose receiver is this, and was it removed?
-- Parameters: key.
-- Columns: app, removed_at.
-- Index: the primary key.
select app, removed_at from owed_receiver where key = $1::text
