-- A relay says that it is alive.
-- Parameters: id, host, pid, boot_id, lanes, wake_path, started_at, heartbeat_at, why it hears of no commit,
-- whom it cannot hand on to, and why.
-- Index: the primary key.
insert into owed_relay (id, host, pid, boot_id, lanes, wake_path, started_at, heartbeat_at, deaf, away)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
on duplicate key update host = values(host), pid = values(pid), boot_id = values(boot_id),
    lanes = values(lanes), wake_path = values(wake_path), heartbeat_at = values(heartbeat_at),
    deaf = values(deaf), away = values(away)
