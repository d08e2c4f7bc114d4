-- Begins a transaction that only looks, and leaves it open.
create or replace procedure owed_begin_read()
    reads sql data
    sql security invoker
begin
    set transaction isolation level repeatable read;
    start transaction with consistent snapshot, read only;
end;
