-- Begins a transaction that will write. Its level is the connection's: read committed.
start transaction
