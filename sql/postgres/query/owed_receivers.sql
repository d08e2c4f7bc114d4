-- The receivers that anything is owed to, stepped through by index however much that is, and those of
-- claimed rows.
-- Columns: receiver key, whether the catalogue has it (1 or 0), removed_at.
-- Index: owed_delivery_by_receiver, owed_delivery_claimed, the catalogue's primary key.
select key, is_known, removed_at from owed_receivers_owed()
