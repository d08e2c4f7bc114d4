-- Every table of owed. Times are UTC with microseconds; 1970-01-01 means "not yet", so that a row which
-- is claimed and settled keeps its length and is changed in place (NULL made that ten times as much log).
-- Texts compare byte by byte, blanks at their end included. Each step can be repeated: a definition
-- commits by itself here, and who was stopped half-way runs all of it again.

create table if not exists owed_event (
    id bigint not null auto_increment primary key,
    uid binary(16) not null,
    name varchar(255) not null,
    version int not null default 1,
    payload longtext not null,
    dedupe_key varchar(255) null,
    occurred_at datetime(6) not null,
    recorded_at datetime(6) not null,
    due_at datetime(6) not null,
    actor_key varchar(255) not null default '',
    actor_label varchar(255) not null default '',
    scope mediumtext not null default '{}',
    correlation_id varchar(255) not null default '',
    causation_id bigint null,
    traceparent varchar(255) not null default '',
    suppressed_reason mediumtext not null default '',
    retention_seconds bigint null,
    delete_when varchar(255) not null default '',
    unique key owed_event_by_dedupe_key (dedupe_key),
    key owed_event_by_name (name, id),
    key owed_event_by_correlation (correlation_id, id),
    key owed_event_by_cause (causation_id)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- No foreign key to the event: it would fail serializable callers.
--
-- There are no partial indexes here. A column made of others, null where an index has nothing to find,
-- serves as one: the rows that have ended stand together in front, where no search for a value comes, and
-- take no more of the index than their id. The columns are stored: of virtual ones the server's own purge
-- finds the index corrupted after a crash in the midst of claims, and nothing can be claimed from then on.
create table if not exists owed_delivery (
    id bigint not null auto_increment primary key,
    event_id bigint not null,
    receiver_key varchar(255) not null,
    target mediumtext not null default '',
    target_digest binary(32) not null,
    lane varchar(400) not null,
    kind enum ('inside', 'outside', 'task', 'expand') not null,
    status enum ('pending', 'claimed', 'succeeded', 'failed', 'dead', 'orphaned', 'cancelled')
        not null default 'pending',
    attempts int not null default 0,
    max_attempts int not null,
    losses int not null default 0,
    available_at datetime(6) not null,
    due_at datetime(6) not null,
    -- Of fixed length: a claim that made the row longer would move it, and split pages that fires filled.
    claimed_by char(160) character set ascii collate ascii_bin not null default '',
    claimed_at datetime(6) not null default '1970-01-01 00:00:00',
    lease_expires_at datetime(6) not null default '1970-01-01 00:00:00',
    last_error mediumtext not null default '',
    result mediumtext not null default '',
    completed_at datetime(6) not null default '1970-01-01 00:00:00',
    succeeded_at datetime(6) not null default '1970-01-01 00:00:00',
    owed_lane varchar(400) as (if(status in ('pending', 'failed'), lane, null)) stored,
    owed_receiver_key varchar(255) as (if(status in ('pending', 'failed'), receiver_key, null)) stored,
    claimed_lane varchar(400) as (if(status = 'claimed', lane, null)) stored,
    ended_badly enum ('dead', 'orphaned')
        as (if(status in ('dead', 'orphaned'), status, null)) stored,
    unique key owed_delivery_once (event_id, receiver_key, target_digest),
    -- The two arms of a claim: what is due, and whose lease is over.
    key owed_delivery_owed (owed_lane, kind, available_at, id),
    key owed_delivery_claimed (claimed_lane, kind, lease_expires_at, available_at, id),
    -- Owed rows of one receiver: for a relay that knows only some of a lane, for publish and for status.
    key owed_delivery_by_receiver (owed_receiver_key, lane, kind, available_at, id),
    key owed_delivery_ended_badly (ended_badly, id, receiver_key)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

create table if not exists owed_event_type (
    name varchar(255) not null,
    app varchar(64) not null,
    version int not null,
    fields mediumtext not null default '[]',
    retention_seconds bigint null,
    delete_when varchar(255) not null default '',
    `release` bigint not null default 0,
    published_at datetime(6) not null,
    removed_at datetime(6) not null default '1970-01-01 00:00:00',
    constraint owed_event_type_goes_by_one check (retention_seconds is null or delete_when = ''),
    primary key (name, app)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

create table if not exists owed_receiver (
    `key` varchar(255) not null primary key,
    app varchar(64) not null,
    event_name varchar(255) not null,
    mode enum ('durable', 'on_commit', 'inline') not null,
    site enum ('relay', 'task') not null default 'relay',
    kind enum ('inside', 'outside', 'task', 'expand') not null,
    lane varchar(130) not null,
    max_attempts int not null,
    backoff_base bigint not null default 0,
    backoff_cap bigint not null default 0,
    lease bigint not null default 0,
    timeout bigint not null default 0,
    due bigint not null default 0,
    give_up_after bigint not null default 0,
    eager tinyint not null default 0,
    database_only tinyint not null default 0,
    targets enum ('none', 'callback', 'endpoints') not null default 'none',
    pause enum ('lane', 'target') not null default 'lane',
    options mediumtext not null default '{}',
    paused_at datetime(6) not null default '1970-01-01 00:00:00',
    paused_until datetime(6) not null default '1970-01-01 00:00:00',
    paused_reason mediumtext not null default '',
    `release` bigint not null default 0,
    published_at datetime(6) not null,
    removed_at datetime(6) not null default '1970-01-01 00:00:00',
    -- The lane that its rows stand in. While the receiver is paused: one that nobody serves.
    stored_lane varchar(400)
        as (if(paused_at > '1970-01-01 00:00:00', concat(lane, '!', `key`), lane)) persistent,
    key owed_receiver_by_event (event_name)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

create table if not exists owed_attempt (
    id bigint not null auto_increment primary key,
    delivery_id bigint not null,
    attempt int not null,
    started_at datetime(6) not null,
    duration bigint not null default 0,
    verdict enum ('failed', 'permanent', 'retry_after', 'deferred', 'gave_up', 'undecodable', 'died',
        'hook', 'succeeded') not null,
    code int not null default 0,
    error mediumtext not null default '',
    excerpt mediumtext not null default '',
    key owed_attempt_by_delivery (delivery_id, id)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

create table if not exists owed_lane (
    lane varchar(130) not null primary key,
    paused_at datetime(6) not null default '1970-01-01 00:00:00',
    paused_until datetime(6) not null default '1970-01-01 00:00:00',
    paused_by varchar(255) not null default '',
    reason mediumtext not null default ''
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

create table if not exists owed_relay (
    id varchar(255) not null primary key,
    host varchar(255) not null,
    pid bigint not null,
    boot_id varchar(255) not null default '',
    lanes mediumtext not null,
    wake_path varchar(1024) not null default '',
    deaf mediumtext not null default '',
    started_at datetime(6) not null,
    heartbeat_at datetime(6) not null
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

create table if not exists owed_last_success (
    receiver_key varchar(255) not null primary key,
    last_succeeded_at datetime(6) not null
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- What migrate has run: each migration once, each routine as it was last replaced.
create table if not exists owed_schema (
    kind enum ('schema', 'routine') not null,
    name varchar(255) not null,
    version int not null,
    checksum varchar(64) not null,
    applied_at datetime(6) not null,
    primary key (kind, name)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;
