-- Begins a transaction that only looks: one snapshot for several statements, which read committed does
-- not give.
begin not atomic
    set transaction isolation level repeatable read;
    start transaction with consistent snapshot, read only;
end
