-- Where webhooks go that customers asked for, and what they want to hear of. An endpoint is a target: its id is
-- what a delivery names, and its digest that of the id (SHA-256), which SQLite cannot make.

create table owed_endpoint (
    id text primary key not null,
    digest blob not null check (length(digest) = 32),
    name text not null default '',
    url text not null,
    tenant text not null default '',
    format text not null default 'envelope' check (format in ('envelope', 'raw', 'cloudevents')),
    signing text not null default 'v1' check (signing in ('v1', 'v1a')),
    secret text not null,
    previous_secret text not null default '',
    previous_until integer not null default 0,
    -- A JSON object: JSON pointers into the payload, and what must stand there.
    filter text not null default '',
    rate integer not null default 0,
    dead_in_row integer not null default 0,
    disabled_at integer not null default 0,
    disabled_reason text not null default '',
    created_at integer not null,
    updated_at integer not null
) strict;

-- An event's name, or the front of many: "shop.*", "*".
create table owed_subscription (
    endpoint_id text not null,
    event_name text not null,
    stem text as (case when substr(event_name, -1) = '*'
        then substr(event_name, 1, length(event_name) - 1) end),
    primary key (endpoint_id, event_name)
) strict;
create index owed_subscription_by_event on owed_subscription (event_name, endpoint_id);
create index owed_subscription_by_stem on owed_subscription (stem, endpoint_id) where stem is not null;
