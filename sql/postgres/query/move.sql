-- Lets rows follow their receivers to the lane and kind that the catalogue says. The fence of a row that
-- somebody holds does not name the lane. A row of a side lane ("app/+name") stays in it; while its receiver is
-- paused that one is "app/!+name".
-- Parameters: a JSON array of ids.
-- Index: the primary keys.
select from owed_move(translate($1::text, '[]', '{}')::bigint[])
