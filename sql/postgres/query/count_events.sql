-- How many events are kept, as far as one counts?
-- Parameters: how far.
-- Columns: how many, at most that.
-- Index: any; it counts no further.
select count(*) from (select id from owed_event limit $1::bigint) as counted
