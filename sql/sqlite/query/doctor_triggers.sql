-- Triggers and views of ours that are not there: without the first an event is owed to nobody, and nothing says so.
-- Columns: trigger or view, its table, 0, 0.
-- Index: none, it asks the file's own catalogue.
with wanted (name, of_table) as (values
    ('owed_event_fan_out', 'owed_event'),
    ('owed_fire', ''),
    ('owed_fire_insert', 'owed_fire')
)
select name, of_table, 0, 0 from wanted
where name not in (select name from sqlite_master where type in ('trigger', 'view'))
order by 1
