-- The server's clock.
-- Columns: now.
select utc_timestamp(6)
