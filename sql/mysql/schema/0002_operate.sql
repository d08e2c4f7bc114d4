-- What operators do: who did what to how many, and what finds the events that are to go. An event has a
-- window of its own or goes when it is done, never both, so one index serves. Who was stopped half-way runs
-- all of it again, and an index cannot be made "if it is not there": what it takes is looked for.

set @owed_step = if(exists (
        select 1 from information_schema.statistics
        where table_schema = database() and table_name = 'owed_event'
        and index_name = 'owed_event_own_window'),
    'do 0',
    'create index owed_event_own_window on owed_event (retention_seconds, delete_when, id)');
prepare owed_step from @owed_step;
execute owed_step;
deallocate prepare owed_step;

create table if not exists owed_audit (
    id bigint not null auto_increment primary key,
    began_at datetime(6) not null,
    ended_at datetime(6) not null default '1970-01-01 00:00:00',
    who varchar(255) not null,
    action varchar(64) not null,
    what mediumtext not null default '',
    how_many bigint not null default 0
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;
