-- An endpoint may be paused: what is owed to it is kept, and not sent until it is resumed.

alter table owed_endpoint
    add column if not exists paused_at datetime(6) not null default '1970-01-01 00:00:00',
    add column if not exists paused_until datetime(6) not null default '1970-01-01 00:00:00',
    add column if not exists paused_reason varchar(255) not null default '',
    add column if not exists resumed_at datetime(6) not null default '1970-01-01 00:00:00';
