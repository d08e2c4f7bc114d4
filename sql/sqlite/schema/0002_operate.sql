-- What operators do: who did what to how many, and what finds the events that are to go. The indexes hold
-- only events that have a retention of their own.

create index owed_event_own_window on owed_event (retention_seconds, id)
    where retention_seconds is not null;
create index owed_event_consumed on owed_event (delete_when, id) where delete_when <> '';

create table owed_audit (
    id integer primary key autoincrement,
    began_at integer not null,
    ended_at integer not null default 0,
    who text not null,
    action text not null,
    what text not null default '',
    how_many integer not null default 0
) strict;
