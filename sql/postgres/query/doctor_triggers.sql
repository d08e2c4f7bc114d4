-- Triggers of ours that are not there: without the first an event is owed to nobody, and nothing says so.
-- Columns: trigger, its table, 0, 0.
-- Index: none, it asks the server's catalogue.
select w.name, w.of_table, 0::bigint, 0::bigint
from (values
    ('owed_event_fan_out', 'owed_event'),
    ('owed_announce_new', 'owed_delivery'),
    ('owed_announce_freed', 'owed_delivery')
) as w (name, of_table)
where not exists (select from pg_trigger as t where t.tgname = w.name and t.tgrelid = to_regclass(w.of_table))
order by 1
