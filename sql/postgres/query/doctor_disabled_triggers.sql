-- Triggers of ours that somebody switched off, as for a bulk load.
-- Columns: trigger, its table, 0, 0.
-- Index: none, it asks the server's catalogue.
select t.tgname::text, c.relname::text, 0::bigint, 0::bigint
from pg_trigger as t
join pg_class as c on c.oid = t.tgrelid
where c.oid in (to_regclass('owed_event'), to_regclass('owed_delivery'))
and not t.tgisinternal and t.tgname like 'owed\_%' and t.tgenabled in ('D', 'R')
order by 1
