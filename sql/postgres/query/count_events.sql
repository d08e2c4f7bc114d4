-- How many events are kept?
-- Columns: how many.
-- Index: any; it counts them.
select count(*) from owed_event
