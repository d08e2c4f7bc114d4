-- Every table of owed. Times are integer microseconds since 1970-01-01 UTC; 0 means "not yet".
-- Ids never come again (autoincrement); uid cannot even after a restored backup.

create table owed_event (
    id integer primary key autoincrement,
    uid blob not null check (length(uid) = 16),
    name text not null,
    version integer not null default 1,
    payload text not null,
    dedupe_key text unique,
    occurred_at integer not null,
    recorded_at integer not null,
    due_at integer not null,
    actor_key text not null default '',
    actor_label text not null default '',
    scope text not null default '{}',
    correlation_id text not null default '',
    causation_id integer,
    traceparent text not null default '',
    suppressed_reason text not null default '',
    retention_seconds integer,
    delete_when text not null default ''
) strict;
create index owed_event_by_name on owed_event (name, id);
create index owed_event_by_correlation on owed_event (correlation_id, id) where correlation_id <> '';
create index owed_event_by_cause on owed_event (causation_id) where causation_id is not null;

-- Checks of the hot columns are chains of "or": "in" builds a small table for each statement that
-- writes, which doubled the price of a fire.
--
-- No foreign key to the event: it would fail serializable callers on other stores, and one shape
-- serves all.
create table owed_delivery (
    id integer primary key autoincrement,
    event_id integer not null,
    receiver_key text not null,
    target text not null default '',
    target_digest blob not null check (length(target_digest) = 32),
    lane text not null,
    kind text not null check (kind = 'inside' or kind = 'outside' or kind = 'task' or kind = 'expand'),
    status text not null default 'pending' check (status = 'pending' or status = 'claimed'
        or status = 'succeeded' or status = 'failed' or status = 'dead' or status = 'orphaned'
        or status = 'cancelled'),
    attempts integer not null default 0,
    max_attempts integer not null,
    losses integer not null default 0,
    available_at integer not null,
    due_at integer not null,
    claimed_by text not null default '',
    claimed_at integer not null default 0,
    lease_expires_at integer not null default 0,
    last_error text not null default '',
    result text not null default '',
    completed_at integer not null default 0,
    succeeded_at integer not null default 0,
    unique (event_id, receiver_key, target_digest)
) strict;
-- The two arms of a claim: what is due, and whose lease is over. An index ends with the id unsaid, so
-- all of them give (available_at, id) order.
create index owed_delivery_owed on owed_delivery (lane, kind, available_at)
    where status in ('pending', 'failed');
create index owed_delivery_claimed
    on owed_delivery (lane, kind, lease_expires_at, available_at, receiver_key)
    where status = 'claimed';
-- Owed rows of one receiver: for a relay that knows only some of a lane, for publish and for status.
create index owed_delivery_by_receiver on owed_delivery (receiver_key, lane, kind, available_at)
    where status in ('pending', 'failed');
create index owed_delivery_ended_badly on owed_delivery (status, receiver_key, id)
    where status in ('dead', 'orphaned');
-- The same in the order of ids: for those who walk them in pieces.
create index owed_delivery_ended_badly_ids on owed_delivery (id)
    where status in ('dead', 'orphaned');

create table owed_event_type (
    name text not null,
    app text not null,
    version integer not null,
    fields text not null default '[]',
    retention_seconds integer,
    delete_when text not null default '',
    release integer not null default 0,
    published_at integer not null,
    removed_at integer not null default 0,
    constraint owed_event_type_goes_by_one check (retention_seconds is null or delete_when = ''),
    primary key (name, app)
) strict;

create table owed_receiver (
    key text primary key not null,
    app text not null,
    event_name text not null,
    mode text not null check (mode in ('durable', 'on_commit', 'inline')),
    site text not null default 'relay' check (site in ('relay', 'task')),
    kind text not null check (kind in ('inside', 'outside', 'task', 'expand')),
    lane text not null,
    max_attempts integer not null,
    backoff_base integer not null default 0,
    backoff_cap integer not null default 0,
    lease integer not null default 0,
    timeout integer not null default 0,
    due integer not null default 0,
    give_up_after integer not null default 0,
    eager integer not null default 0,
    database_only integer not null default 0,
    targets text not null default 'none' check (targets in ('none', 'callback', 'endpoints')),
    pause text not null default 'lane' check (pause in ('lane', 'target')),
    options text not null default '{}',
    paused_at integer not null default 0,
    paused_until integer not null default 0,
    paused_reason text not null default '',
    release integer not null default 0,
    published_at integer not null,
    removed_at integer not null default 0,
    -- The lane that its rows stand in. While the receiver is paused: one that nobody serves.
    stored_lane text not null as (case when paused_at > 0 then lane || '!' || key else lane end)
) strict;
create index owed_receiver_by_event on owed_receiver (event_name);

create table owed_attempt (
    id integer primary key autoincrement,
    delivery_id integer not null,
    attempt integer not null,
    started_at integer not null,
    duration integer not null default 0,
    verdict text not null check (verdict in ('failed', 'permanent', 'retry_after', 'deferred',
        'gave_up', 'undecodable', 'died', 'hook', 'succeeded')),
    code integer not null default 0,
    error text not null default '',
    excerpt text not null default ''
) strict;
create index owed_attempt_by_delivery on owed_attempt (delivery_id, id);

create table owed_lane (
    lane text primary key not null,
    paused_at integer not null default 0,
    paused_until integer not null default 0,
    paused_by text not null default '',
    reason text not null default ''
) strict;

create table owed_relay (
    id text primary key not null,
    host text not null,
    pid integer not null,
    boot_id text not null default '',
    lanes text not null,
    wake_path text not null default '',
    deaf text not null default '',
    started_at integer not null,
    heartbeat_at integer not null
) strict;

create table owed_last_success (
    receiver_key text primary key not null,
    last_succeeded_at integer not null
) strict;

-- What migrate has run: each migration once, each routine as it was last replaced.
create table owed_schema (
    kind text not null check (kind in ('schema', 'routine')),
    name text not null,
    version integer not null,
    checksum text not null,
    applied_at integer not null,
    primary key (kind, name)
) strict;
