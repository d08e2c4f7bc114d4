-- An endpoint wants to hear of events of a name.
-- Parameters: endpoint id, event name.
-- Index: the primary key.
insert into owed_subscription (endpoint_id, event_name) values ($1, $2) on conflict do nothing
