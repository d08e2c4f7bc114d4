-- Sets the savepoint of one delivery.
savepoint owed_delivery
