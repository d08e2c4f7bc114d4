-- How many pages does the log grow before this connection checkpoints by itself? Asked of adopted
-- connections alone.
-- Columns: how many; 0: it does not, or the application has a hook of its own there.
pragma wal_autocheckpoint
