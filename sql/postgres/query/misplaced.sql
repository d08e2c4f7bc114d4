-- Owed rows of one receiver that stand in another lane or kind than the catalogue says. A row that is
-- still to be expanded into targets stays so while its receiver has targets. Seeks past all that stand
-- where they should, in its lane and, but for their kind, in the side lanes of its app.
-- Parameters: receiver key, how many at most.
-- Columns: id.
-- Index: owed_delivery_by_receiver.
select owed_misplaced($1::text, $2::bigint)
