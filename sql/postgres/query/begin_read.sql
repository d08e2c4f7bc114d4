-- Begins a transaction that only looks: one snapshot for several statements.
begin isolation level repeatable read read only
