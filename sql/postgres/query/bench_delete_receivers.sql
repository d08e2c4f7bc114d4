-- Takes the receivers of owed bench out of the catalogue.
-- Index: none, the table is small.
delete from owed_receiver where app = 'owed.bench'
