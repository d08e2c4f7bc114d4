-- Does anybody else use this store: an event, a delivery or a receiver that is not of owed bench?
-- Columns: 1 or 0.
-- Index: owed_event_by_name; the first row of somebody else's ends it.
select case when exists (select 1 from owed_event where name <> 'owed.bench.Event')
    or exists (select 1 from owed_delivery where lane <> 'owed.bench/default')
    or exists (select 1 from owed_receiver where app <> 'owed.bench') then 1 else 0 end
