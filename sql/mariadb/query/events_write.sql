-- Writes several events, in order. Fails where one has a dedupe key that is taken, and writes none.
-- Parameters: a JSON array of arrays: uid in hex, name, version, dedupe key or null, occurred_at,
-- recorded_at and due_at in microseconds since 1970, actor_key, actor_label, scope, correlation_id,
-- causation_id or null, traceparent, retention in seconds or null, when it is deleted, payload as text.
-- Index: unique (dedupe_key).
insert into owed_event (uid, name, version, payload, dedupe_key, occurred_at, recorded_at, due_at,
    actor_key, actor_label, scope, correlation_id, causation_id, traceparent, retention_seconds,
    delete_when)
select unhex(g.uid), g.name, g.version, g.payload, g.dedupe_key,
    timestamp '1970-01-01 00:00:00' + interval g.occurred_at microsecond,
    timestamp '1970-01-01 00:00:00' + interval g.recorded_at microsecond,
    timestamp '1970-01-01 00:00:00' + interval g.due_at microsecond,
    g.actor_key, g.actor_label, g.scope, g.correlation_id, g.causation_id, g.traceparent,
    g.retention_seconds, g.delete_when
from json_table($1, '$[*]' columns (
    uid varchar(32) character set utf8mb4 collate utf8mb4_nopad_bin path '$[0]',
    name varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin path '$[1]',
    version int path '$[2]',
    dedupe_key varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin path '$[3]',
    occurred_at bigint path '$[4]',
    recorded_at bigint path '$[5]',
    due_at bigint path '$[6]',
    actor_key varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin path '$[7]',
    actor_label varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin path '$[8]',
    scope mediumtext character set utf8mb4 collate utf8mb4_nopad_bin path '$[9]',
    correlation_id varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin path '$[10]',
    causation_id bigint path '$[11]',
    traceparent varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin path '$[12]',
    retention_seconds bigint path '$[13]',
    delete_when varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin path '$[14]',
    payload longtext character set utf8mb4 collate utf8mb4_nopad_bin path '$[15]')) as g
