-- Takes events for the transaction, in the order of their ids, so that nobody makes anything owed for
-- them again meanwhile; what others have taken is passed over.
-- Parameters: a JSON array of ids.
-- Columns: id.
-- Index: the primary key.
select id from owed_event where id in (select value from json_each($1)) order by id
