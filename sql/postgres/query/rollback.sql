-- Ends the transaction and undoes it.
rollback
