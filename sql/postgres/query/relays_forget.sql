-- Relays that were not heard of for long did not leave: they died.
-- Parameters: a moment; who last spoke before it is forgotten.
-- Index: none, the table is small.
delete from owed_relay where heartbeat_at < $1::timestamptz
