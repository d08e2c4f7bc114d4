-- Begins a transaction that will write: each statement sees what was committed before it.
begin isolation level read committed read write
