-- The catalogue's receivers.
-- Columns: key, app, event_name, mode, site, kind, lane, max_attempts, backoff_base, backoff_cap,
-- lease, timeout, database_only, options, release, published_at, removed_at, due, give_up_after, pause,
-- targets, eager, paused_at, stored_lane.
-- Index: the primary key.
select key, app, event_name, mode, site, kind, lane, max_attempts, backoff_base, backoff_cap,
    lease, timeout, database_only, options, release, published_at, removed_at, due, give_up_after, pause,
    targets, eager, paused_at, stored_lane
from owed_receiver
order by key
