-- What operators do: who did what to how many, and what finds the events that are to go. An event has a
-- window of its own or goes when it is done, never both, so one index serves.

create index if not exists owed_event_own_window on owed_event (retention_seconds, delete_when, id);

create table if not exists owed_audit (
    id bigint not null auto_increment primary key,
    began_at datetime(6) not null,
    ended_at datetime(6) not null default '1970-01-01 00:00:00',
    who varchar(255) not null,
    action varchar(64) not null,
    what mediumtext not null default '',
    how_many bigint not null default 0
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;
