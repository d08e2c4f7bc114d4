-- What every writing connection of ours is set to when it opens (an adopted one is left as it is).
-- Automatic checkpoints are switched off beside it.
pragma journal_mode = wal;
pragma synchronous = full;
