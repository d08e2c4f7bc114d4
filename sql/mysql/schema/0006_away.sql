-- A relay says in its row whom it cannot hand on to what it should: a broker that is away, or its task site. A column
-- cannot be added "if it is not there": whether it is is looked for.

set @owed_step = if(exists (
        select 1 from information_schema.columns
        where table_schema = database() and table_name = 'owed_relay' and column_name = 'away'),
    'do 0',
    'alter table owed_relay add column away mediumtext not null default ('''')');
prepare owed_step from @owed_step;
execute owed_step;
deallocate prepare owed_step;
