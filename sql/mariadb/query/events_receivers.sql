-- The durable receivers of events of some names, or of any ('*'). Read apart from any write, which would
-- lock what it reads of the catalogue.
-- Parameters: a JSON array of names.
-- Columns: event name as it was asked for, key, stored lane, kind (endpoints: those are owed, not it), max_attempts, due in microseconds,
-- removed_at.
-- Index: owed_receiver_by_event.
select wanted.name, r.`key`, r.stored_lane,
    case r.targets when 'callback' then 'expand' when 'endpoints' then 'endpoints' else r.kind end,
    r.max_attempts, r.due, r.removed_at
from (select distinct name from json_table($1, '$[*]' columns (name varchar(255)
    character set utf8mb4 collate utf8mb4_nopad_bin path '$')) as given) as wanted
straight_join owed_receiver as r on r.event_name in (wanted.name, '*')
where r.mode = 'durable'
