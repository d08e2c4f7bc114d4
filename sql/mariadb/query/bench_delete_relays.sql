-- Forgets relays of owed bench that were killed.
-- Index: none, the table is small.
delete from owed_relay where id like 'owed.bench.%'
