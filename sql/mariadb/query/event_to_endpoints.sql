-- Owes an event to the endpoints that want it.
-- Parameters: event id.
call owed_event_to_endpoints($1)
