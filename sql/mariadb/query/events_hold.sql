-- Takes events for the transaction, in the order of their ids, waiting for whoever has one: nobody deletes
-- them meanwhile, for what is to be made owed again.
-- Parameters: a JSON array of ids.
-- Columns: id.
-- Index: the primary key.
select e.id
from json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_event as e on e.id = picked.id
order by e.id
for update
