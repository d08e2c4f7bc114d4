-- An endpoint may be paused: what is owed to it is kept, and not sent until it is resumed.

alter table owed_endpoint add column paused_at integer not null default 0;
alter table owed_endpoint add column paused_until integer not null default 0;
alter table owed_endpoint add column paused_reason text not null default '';
alter table owed_endpoint add column resumed_at integer not null default 0;
