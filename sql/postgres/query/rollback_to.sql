-- Undoes what was written since the savepoint; it stays set.
rollback to savepoint owed_delivery
