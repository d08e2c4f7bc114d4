-- Ends the transaction and keeps it.
commit
