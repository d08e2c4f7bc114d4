-- Keeps what was written since the savepoint.
release savepoint owed_delivery
