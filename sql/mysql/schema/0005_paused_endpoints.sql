-- An endpoint may be paused: what is owed to it is kept, and not sent until it is resumed. A column cannot be added "if it
-- is not there": whether they are is looked for.

set @owed_step = if(exists (
        select 1 from information_schema.columns
        where table_schema = database() and table_name = 'owed_endpoint' and column_name = 'paused_at'),
    'do 0',
    'alter table owed_endpoint
        add column paused_at datetime(6) not null default ''1970-01-01 00:00:00'',
        add column paused_until datetime(6) not null default ''1970-01-01 00:00:00'',
        add column paused_reason varchar(255) not null default '''',
        add column resumed_at datetime(6) not null default ''1970-01-01 00:00:00''');
prepare owed_step from @owed_step;
execute owed_step;
deallocate prepare owed_step;
