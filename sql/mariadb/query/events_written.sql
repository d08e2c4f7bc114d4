-- The events that the connection's last insert wrote, in order; between them others' may be.
-- Columns: id, uid.
-- Index: the primary key.
select id, uid from owed_event where id >= last_insert_id() order by id
