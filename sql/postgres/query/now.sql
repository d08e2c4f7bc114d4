-- The server's clock.
-- Columns: now.
-- Index: none.
select clock_timestamp()
