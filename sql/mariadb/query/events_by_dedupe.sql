-- Which events have these dedupe keys? Without a lock: who takes a key in between is found out by the write.
-- Parameters: a JSON array of keys; '' is none.
-- Columns: the key's place in the array, from 1; id of the event.
-- Index: unique (dedupe_key).
select wanted.place, e.id
from json_table($1, '$[*]' columns (place for ordinality, dedupe_key varchar(255)
    character set utf8mb4 collate utf8mb4_nopad_bin path '$')) as wanted
straight_join owed_event as e on e.dedupe_key = wanted.dedupe_key
