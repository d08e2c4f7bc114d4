-- Begins a transaction that will write: the writer's lock is taken at once.
begin immediate
