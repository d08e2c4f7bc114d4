-- The retention that the catalogue has for events of some names.
-- Parameters: a JSON array of names.
-- Columns: name; seconds, or -1; when its events are deleted, or ''.
-- Index: the primary key of owed_event_type.
select t.name, coalesce(max(t.retention_seconds), -1),
    if(max(t.retention_seconds) is null, coalesce(max(t.delete_when), ''), '')
from json_table($1, '$[*]' columns (name varchar(255)
    character set utf8mb4 collate utf8mb4_nopad_bin path '$')) as wanted
straight_join owed_event_type as t on t.name = wanted.name
where t.removed_at = '1970-01-01 00:00:00'
group by t.name
