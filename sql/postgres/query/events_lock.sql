-- Takes events for the transaction, in the order of their ids, so that nobody makes anything owed for
-- them again meanwhile; what others have taken is passed over.
-- Parameters: a JSON array of ids.
-- Columns: id.
-- Index: the primary key.
select id from owed_event where id = any (translate($1::text, '[]', '{}')::bigint[]) order by id
for update skip locked
