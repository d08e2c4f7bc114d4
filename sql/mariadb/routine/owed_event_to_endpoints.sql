-- Owes an event to the endpoints: one delivery for each that is not disabled, has subscribed to its name, and is of its
-- tenant. Where the receiver says which member of the scope names the tenant, an event without one goes to
-- nobody; where it does not, endpoints of a tenant get nothing. Events of owed itself go to none.
-- They are read by a cursor: to insert from the tables themselves, in one statement, would lock them until
-- the caller's transaction ends.
create or replace procedure owed_event_to_endpoints(in new_id bigint)
    modifies sql data
    sql security definer
begin
    declare at_end int default 0;
    declare its_id varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin;
    declare its_digest binary(32);
    declare its_lane varchar(400) character set utf8mb4 collate utf8mb4_nopad_bin;
    declare its_kind varchar(16) character set utf8mb4 collate utf8mb4_nopad_bin;
    declare its_attempts int;
    declare its_due_at datetime(6);
    declare endpoints cursor for
        select e.id, e.digest, r.stored_lane, r.kind, r.max_attempts,
            greatest(fired.due_at, fired.recorded_at) + interval r.due microsecond
        from owed_event as fired
        join (select *, coalesce(json_unquote(json_extract(options, '$.tenant_key')), '')
                collate utf8mb4_nopad_bin as tenant_key
            from owed_receiver where `key` = 'owed.webhooks') as r
            on r.event_name in (fired.name, '*')
        join owed_endpoint as e on e.id in (
            select s.endpoint_id from owed_subscription as s
            where s.event_name = fired.name
                or (s.stem is not null and left(fired.name, char_length(s.stem)) = s.stem))
        where fired.id = new_id and fired.suppressed_reason = '' and left(fired.name, 5) <> 'owed.'
        and r.mode = 'durable'
        and (r.removed_at = '1970-01-01 00:00:00'
            or r.removed_at > fired.recorded_at - interval 10 minute)
        and e.disabled_at = '1970-01-01 00:00:00'
        and e.tenant = case when r.tenant_key = '' then ''
            when not json_valid(fired.scope) then null
            when json_type(json_extract(fired.scope, concat('$."', r.tenant_key, '"'))) in ('STRING', 'INTEGER', 'UNSIGNED INTEGER')
            then nullif(json_unquote(json_extract(fired.scope, concat('$."', r.tenant_key, '"'))), '')
                collate utf8mb4_nopad_bin end
        order by e.id;
    declare continue handler for not found set at_end = 1;

    open endpoints;
    fetch endpoints into its_id, its_digest, its_lane, its_kind, its_attempts, its_due_at;
    while not at_end do
        insert into owed_delivery (event_id, receiver_key, target, target_digest, lane, kind, max_attempts,
            available_at, due_at)
        values (new_id, 'owed.webhooks', its_id, its_digest, its_lane, its_kind, its_attempts,
            its_due_at, its_due_at);
        fetch endpoints into its_id, its_digest, its_lane, its_kind, its_attempts, its_due_at;
    end while;
    close endpoints;
end;
