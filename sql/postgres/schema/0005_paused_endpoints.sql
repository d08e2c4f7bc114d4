-- An endpoint may be paused: what is owed to it is kept, and not sent until it is resumed.

alter table owed_endpoint add column paused_at timestamptz not null default 'epoch';
alter table owed_endpoint add column paused_until timestamptz not null default 'epoch';
alter table owed_endpoint add column paused_reason text not null default '';
alter table owed_endpoint add column resumed_at timestamptz not null default 'epoch';
