-- The commit of this transaction does not wait for the disk: a crash of the server may undo it.
set local synchronous_commit = off
