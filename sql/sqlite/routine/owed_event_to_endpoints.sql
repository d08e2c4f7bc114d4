-- What an event is owed to among the endpoints: one delivery for each that is not disabled, has subscribed to its name, and is
-- of its tenant. Where the receiver says which member of the scope names the tenant, an event without one
-- goes to nobody; where it does not, endpoints of a tenant get nothing. Events of owed itself go to none.
drop trigger if exists owed_event_to_endpoints;
create trigger owed_event_to_endpoints after insert on owed_event
when new.suppressed_reason = '' and substr(new.name, 1, 5) <> 'owed.'
    and exists (select 1 from owed_receiver where key = 'owed.webhooks' and targets = 'endpoints')
begin
    insert into owed_delivery (event_id, receiver_key, target, target_digest, lane, kind, max_attempts,
        available_at, due_at)
    select new.id, r.key, e.id, e.digest, r.stored_lane, r.kind, r.max_attempts,
        max(new.due_at, new.recorded_at) + r.due, max(new.due_at, new.recorded_at) + r.due
    from (select *, coalesce(json_extract(options, '$.tenant_key'), '') as tenant_key
        from owed_receiver where key = 'owed.webhooks') as r
    cross join owed_endpoint as e
    where r.mode = 'durable'
    and (r.event_name = '*' or r.event_name = new.name)
    and (r.removed_at = 0 or r.removed_at > new.recorded_at - 600000000)
    and e.id in (
        select s.endpoint_id from owed_subscription as s where s.event_name = new.name
        union
        select s.endpoint_id from owed_subscription as s
        where s.stem is not null and substr(new.name, 1, length(s.stem)) = s.stem)
    and e.disabled_at = 0
    and e.tenant = case when r.tenant_key = '' then ''
        when json_type(new.scope, '$."' || r.tenant_key || '"') in ('text', 'integer')
        then nullif(cast(json_extract(new.scope, '$."' || r.tenant_key || '"') as text), '') end;
end;
