-- Forgets when receivers of owed bench last succeeded.
-- Index: none, the tables are small.
delete from owed_last_success
where receiver_key in (select key from owed_receiver where app = 'owed.bench')
