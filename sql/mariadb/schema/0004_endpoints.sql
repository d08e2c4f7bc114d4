-- Where webhooks go that customers asked for, and what they want to hear of. An endpoint is a target: its id is
-- what a delivery names, and its digest that of the id (SHA-256).

create table if not exists owed_endpoint (
    id varchar(255) not null primary key,
    digest binary(32) not null,
    name varchar(255) not null default '',
    url varchar(2000) not null,
    tenant varchar(255) not null default '',
    format enum ('envelope', 'raw', 'cloudevents') not null default 'envelope',
    signing enum ('v1', 'v1a') not null default 'v1',
    secret varchar(255) not null,
    previous_secret varchar(255) not null default '',
    previous_until datetime(6) not null default '1970-01-01 00:00:00',
    -- A JSON object: JSON pointers into the payload, and what must stand there.
    filter mediumtext not null default '',
    rate int not null default 0,
    dead_in_row bigint not null default 0,
    disabled_at datetime(6) not null default '1970-01-01 00:00:00',
    disabled_reason mediumtext not null default '',
    created_at datetime(6) not null,
    updated_at datetime(6) not null
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- An event's name, or the front of many: "shop.*", "*".
create table if not exists owed_subscription (
    endpoint_id varchar(255) not null,
    event_name varchar(255) not null,
    stem varchar(255) as (if(right(event_name, 1) = '*', left(event_name, char_length(event_name) - 1), null)) persistent,
    primary key (endpoint_id, event_name),
    key owed_subscription_by_event (event_name, endpoint_id),
    key owed_subscription_by_stem (stem, endpoint_id)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;
