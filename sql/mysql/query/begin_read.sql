-- Begins a transaction that only looks: one snapshot for several statements, which read committed does
-- not give. A procedure, since a block of statements stands in nothing else here.
call owed_begin_read()
