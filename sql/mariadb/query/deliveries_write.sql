-- Owes events to receivers. The digest is that of no target.
-- Parameters: a JSON array of arrays: event id, receiver key, lane, kind, max_attempts, and from when it may
-- run, in microseconds since 1970.
insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
    available_at, due_at)
select g.event_id, g.receiver_key,
    x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', g.lane, g.kind,
    g.max_attempts, timestamp '1970-01-01 00:00:00' + interval g.available_at microsecond,
    timestamp '1970-01-01 00:00:00' + interval g.available_at microsecond
from json_table($1, '$[*]' columns (
    event_id bigint path '$[0]',
    receiver_key varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin path '$[1]',
    lane varchar(400) character set utf8mb4 collate utf8mb4_nopad_bin path '$[2]',
    kind varchar(16) character set utf8mb4 collate utf8mb4_nopad_bin path '$[3]',
    max_attempts int path '$[4]',
    available_at bigint path '$[5]')) as g
