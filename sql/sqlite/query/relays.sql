-- The relays that have not left.
-- Columns: id, host, pid, boot_id, lanes, wake_path, deaf, away, started_at, heartbeat_at.
-- Index: the primary key.
select id, host, pid, boot_id, lanes, wake_path, deaf, away, started_at, heartbeat_at
from owed_relay
order by id
