-- What events are owed to: one delivery for each durable receiver of an event's name, or of any ('*'). A
-- receiver that was removed gets events for ten minutes more; a suppressed event is owed to nobody.
-- Receivers whose targets the firing side cannot know get one row that a relay expands. The digest is
-- that of no target (SHA-256 of nothing). The tables are those beside the trigger's own, whatever the
-- search path of who writes events.
--
-- Once for each statement that writes events, however many those are.
create or replace function owed_event_fan_out() returns trigger
language plpgsql as $$
begin
    insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
        available_at, due_at)
    select fired.id, r.key, '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        r.stored_lane, case r.targets when 'callback' then 'expand' else r.kind end, r.max_attempts,
        greatest(fired.due_at, fired.recorded_at) + r.due * interval '1 microsecond',
        greatest(fired.due_at, fired.recorded_at) + r.due * interval '1 microsecond'
    from owed_events_fired as fired
    join owed_receiver as r on r.event_name = any (array[fired.name, '*'])
    where fired.suppressed_reason = '' and r.mode = 'durable' and r.targets <> 'endpoints'
    and (r.removed_at = timestamptz 'epoch'
        or r.removed_at > fired.recorded_at - interval '10 minutes')
    order by fired.id;
    return null;
end
$$;
do $$
begin
    execute format('alter function owed_event_fan_out() set search_path = pg_catalog, %I, pg_temp',
        current_schema());
    -- It was one for each row once.
    if not exists (select from pg_trigger
        where tgrelid = 'owed_event'::regclass and tgname = 'owed_event_fan_out'
        and tgnewtable is not null) then
        create or replace trigger owed_event_fan_out after insert on owed_event
        referencing new table as owed_events_fired
        for each statement execute function owed_event_fan_out();
    end if;
end
$$;
