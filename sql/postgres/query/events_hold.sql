-- Takes events for the transaction, in the order of their ids, waiting for whoever has one: nobody deletes
-- them meanwhile, for what is to be made owed again.
-- Parameters: a JSON array of ids.
-- Columns: id.
-- Index: the primary key.
select id from owed_event where id = any (translate($1::text, '[]', '{}')::bigint[]) order by id
for update
