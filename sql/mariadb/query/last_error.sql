-- What the latest statement on the connection failed with, and whether its transaction is still open.
-- Columns: level, code, message.
show errors limit 1
