-- A number that differs once another connection has committed.
-- Columns: the number.
pragma data_version
