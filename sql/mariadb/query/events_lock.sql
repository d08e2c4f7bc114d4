-- Takes events for the transaction, in the order of their ids, so that nobody makes anything owed for
-- them again meanwhile; what others have taken is passed over.
-- Parameters: a JSON array of ids.
-- Columns: id.
-- Index: the primary key.
select e.id
from json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_event as e on e.id = picked.id
order by e.id
for update skip locked
