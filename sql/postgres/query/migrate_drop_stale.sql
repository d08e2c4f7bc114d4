-- Drops what earlier releases left of routines that were just made anew.
-- Parameters: a JSON array of names.
-- Columns: how many.
-- Index: none, the catalogue of the server.
select owed_drop_stale($1::text)
