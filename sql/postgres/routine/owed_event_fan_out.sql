-- What an event is owed to: one delivery for each durable receiver of its name, or of any ('*'). A
-- receiver that was removed gets events for ten minutes more; a suppressed event is owed to nobody.
-- Receivers whose targets the firing side cannot know get one row that a relay expands. The digest is
-- that of no target (SHA-256 of nothing). The tables are those beside the trigger's own, whatever the
-- search path of who writes an event.
create or replace function owed_event_fan_out() returns trigger
language plpgsql as $$
declare
    from_then constant timestamptz := greatest(new.due_at, new.recorded_at);
begin
    insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
        available_at, due_at)
    select new.id, r.key, '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        r.stored_lane, case r.targets when 'callback' then 'expand' else r.kind end, r.max_attempts,
        from_then + r.due * interval '1 microsecond', from_then + r.due * interval '1 microsecond'
    from owed_receiver as r
    where r.event_name in (new.name, '*') and r.mode = 'durable' and r.targets <> 'endpoints'
    and (r.removed_at = timestamptz 'epoch' or r.removed_at > new.recorded_at - interval '10 minutes');
    return null;
end
$$;
do $$
begin
    execute format('alter function owed_event_fan_out() set search_path = pg_catalog, %I, pg_temp',
        current_schema());
    if not exists (select from pg_trigger
        where tgrelid = 'owed_event'::regclass and tgname = 'owed_event_fan_out') then
        create trigger owed_event_fan_out after insert on owed_event
        for each row when (new.suppressed_reason = '') execute function owed_event_fan_out();
    end if;
end
$$;
