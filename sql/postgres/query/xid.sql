-- The number of the open transaction, to ask later what became of it; null: it has written nothing.
-- Columns: the number.
-- Index: none.
select pg_current_xact_id_if_assigned()::text::bigint
