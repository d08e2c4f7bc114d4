-- What every writing connection of ours is set to when it opens (an adopted one is left as it is).
-- Automatic checkpoints are switched off beside it. A statement that writes several rows keeps the
-- pages it changes in a journal of its own: in a file that costs a fire a third of its time.
pragma journal_mode = wal;
pragma synchronous = full;
pragma temp_store = memory;
