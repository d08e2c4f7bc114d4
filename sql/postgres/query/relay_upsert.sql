-- A relay says that it is alive.
-- Parameters: id, host, pid, boot_id, lanes, wake_path, started_at, heartbeat_at, why it hears of no commit,
-- whom it cannot hand on to, and why.
-- Index: the primary key.
insert into owed_relay (id, host, pid, boot_id, lanes, wake_path, started_at, heartbeat_at, deaf, away)
values ($1::text, $2::text, $3::bigint, $4::text, $5::text, $6::text, $7::timestamptz, $8::timestamptz, $9::text,
    $10::text)
on conflict (id) do update
set host = excluded.host, pid = excluded.pid, boot_id = excluded.boot_id, lanes = excluded.lanes,
    wake_path = excluded.wake_path, heartbeat_at = excluded.heartbeat_at,
    deaf = excluded.deaf, away = excluded.away
