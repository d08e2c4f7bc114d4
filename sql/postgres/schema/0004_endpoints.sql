-- Where webhooks go that customers asked for, and what they want to hear of. An endpoint is a target: its id is
-- what a delivery names, and its digest that of the id (SHA-256).

create table owed_endpoint (
    id text collate "C" primary key,
    digest bytea not null check (length(digest) = 32),
    name text not null default '',
    url text not null,
    tenant text collate "C" not null default '',
    format text not null default 'envelope' check (format in ('envelope', 'raw', 'cloudevents')),
    signing text not null default 'v1' check (signing in ('v1', 'v1a')),
    secret text not null,
    previous_secret text not null default '',
    previous_until timestamptz not null default 'epoch',
    -- A JSON object: JSON pointers into the payload, and what must stand there.
    filter text not null default '',
    rate integer not null default 0,
    dead_in_row bigint not null default 0,
    disabled_at timestamptz not null default 'epoch',
    disabled_reason text not null default '',
    created_at timestamptz not null,
    updated_at timestamptz not null
);

-- An event's name, or the front of many: "shop.*", "*".
create table owed_subscription (
    endpoint_id text collate "C" not null,
    event_name text collate "C" not null,
    stem text collate "C" generated always as (case when right(event_name, 1) = '*'
        then left(event_name, -1) end) stored,
    primary key (endpoint_id, event_name)
);
create index owed_subscription_by_event on owed_subscription (event_name, endpoint_id);
create index owed_subscription_by_stem on owed_subscription (stem, endpoint_id) where stem is not null;
