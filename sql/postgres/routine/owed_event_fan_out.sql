-- What events are owed to: one delivery for each durable receiver of an event's name, or of any ('*'). A
-- receiver that was removed gets events for ten minutes more; a suppressed event is owed to nobody.
-- Receivers whose targets the firing side cannot know get one row that a relay expands. The digest is
-- that of no target (SHA-256 of nothing). The tables are those beside the trigger's own, whatever the
-- search path of who writes events: they are named with their schema, as a search path that is set for
-- each call costs a tenth of a fire.
--
-- Once for each statement that writes events, however many those are; not at all for one that owes them
-- itself (owed_owes_itself), but for what an application's trigger fires amid that.
do $do$
begin
    execute format($body$
create or replace function %1$I.owed_event_fan_out() returns trigger
language plpgsql as $$
begin
    insert into %1$I.owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
        available_at, due_at)
    select fired.id, r.key, '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        r.stored_lane, case r.targets when 'callback' then 'expand' else r.kind end, r.max_attempts,
        greatest(fired.due_at, fired.recorded_at) + r.due * interval '1 microsecond',
        greatest(fired.due_at, fired.recorded_at) + r.due * interval '1 microsecond'
    from owed_events_fired as fired
    join %1$I.owed_receiver as r on r.event_name = any (array[fired.name, '*'])
    where fired.suppressed_reason = '' and r.mode = 'durable' and r.targets <> 'endpoints'
    and (r.removed_at = timestamptz 'epoch'
        or r.removed_at > fired.recorded_at - interval '10 minutes')
    order by fired.id;

    -- Endpoints: one delivery for each that is not disabled, has subscribed to the event's name, and is of its
    -- tenant. Where the receiver says which member of the scope names the tenant, an event without one goes
    -- to nobody; where it does not, endpoints of a tenant get nothing. Events of owed itself go to none.
    if exists (select from %1$I.owed_receiver where key = 'owed.webhooks' and targets = 'endpoints') then
        insert into %1$I.owed_delivery (event_id, receiver_key, target, target_digest, lane, kind, max_attempts,
            available_at, due_at)
        select fired.id, r.key, e.id, e.digest, r.stored_lane, r.kind, r.max_attempts,
            greatest(fired.due_at, fired.recorded_at) + r.due * interval '1 microsecond',
            greatest(fired.due_at, fired.recorded_at) + r.due * interval '1 microsecond'
        from owed_events_fired as fired
        join (select *, coalesce(options::json ->> 'tenant_key', '') as tenant_key
            from %1$I.owed_receiver where key = 'owed.webhooks') as r
            on r.event_name = any (array[fired.name, '*'])
        cross join lateral (
            select s.endpoint_id from %1$I.owed_subscription as s where s.event_name = fired.name
            union
            select s.endpoint_id from %1$I.owed_subscription as s
            where s.stem is not null and left(fired.name, length(s.stem)) = s.stem) as wanted
        join %1$I.owed_endpoint as e on e.id = wanted.endpoint_id
        where fired.suppressed_reason = '' and left(fired.name, 5) <> 'owed.'
        and r.mode = 'durable'
        and (r.removed_at = timestamptz 'epoch'
            or r.removed_at > fired.recorded_at - interval '10 minutes')
        and e.disabled_at = timestamptz 'epoch'
        and e.tenant = case when r.tenant_key = '' then ''
            else %1$I.owed_scope_member(fired.scope, r.tenant_key) end
        order by fired.id, e.id;
    end if;
    return null;
end
$$;
$body$, current_schema());
end
$do$;
do $$
begin
    -- It was one for each row once, and then one for every statement.
    if not exists (select from pg_trigger
        where tgrelid = 'owed_event'::regclass and tgname = 'owed_event_fan_out'
        and tgnewtable is not null and pg_get_triggerdef(oid) like '%pg_trigger_depth%') then
        create or replace trigger owed_event_fan_out after insert on owed_event
        referencing new table as owed_events_fired
        for each statement
        when (coalesce(current_setting('owed.owes_itself', true), '') <> 'yes' or pg_trigger_depth() > 0)
        execute function owed_event_fan_out();
    end if;
end
$$;
