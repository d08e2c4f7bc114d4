-- Takes the event type of owed bench out of the catalogue.
-- Index: none, the table is small.
delete from owed_event_type where app = 'owed.bench'
