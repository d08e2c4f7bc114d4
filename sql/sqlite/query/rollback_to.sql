-- Undoes what was written since the savepoint; it stays set.
rollback transaction to savepoint owed_delivery
