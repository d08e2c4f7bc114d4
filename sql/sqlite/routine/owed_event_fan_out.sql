-- What an event is owed to: one delivery for each durable receiver of its name, or of any ('*'). By
-- the id of the new row, whoever wrote it and whatever else a caller's triggers insert. A receiver
-- that was removed gets events for ten minutes more; a suppressed event is owed to nobody. Receivers
-- whose targets the firing side cannot know get one row that a relay expands. The digest is that of
-- no target (SHA-256 of nothing). Two look-ups by name: "in" would build a table each time.
drop trigger if exists owed_event_fan_out;
create trigger owed_event_fan_out after insert on owed_event
when new.suppressed_reason = ''
begin
    insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
        available_at, due_at)
    select new.id, r.key, x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        r.stored_lane, case r.targets when 'callback' then 'expand' else r.kind end, r.max_attempts,
        max(new.due_at, new.recorded_at) + r.due, max(new.due_at, new.recorded_at) + r.due
    from (select new.name as name union all select '*') as wanted
    cross join owed_receiver as r
    where r.event_name = wanted.name and r.mode = 'durable' and r.targets <> 'endpoints'
    and (r.removed_at = 0 or r.removed_at > new.recorded_at - 600000000);
end;
