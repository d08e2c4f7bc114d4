-- From here on nobody but us can commit this transaction: a row that refers to nothing, looked at when
-- it commits.
-- Index: the primary key.
insert into owed_guard (session, nothing) values (pg_backend_pid(), 1)
on conflict (session) do nothing
