-- Firing from any SQLite client:
--   insert into owed_fire (name, payload) values ('shop.OrderPlaced', '{"order_id": 7}');
-- Everything else may be left out. What is not fit to be delivered is refused before anything is
-- written, and says why; a used dedupe_key fires nothing. The event's id is max(id) of owed_event in
-- the same transaction. The text is kept to the byte; that it is UTF-8 is up to the client.
drop view if exists owed_fire;
create view owed_fire (name, payload, version, dedupe_key, due_at, occurred_at, actor_key, actor_label,
    correlation_id, causation_id, traceparent, scope)
as select '', '', 1, null, null, null, '', '', '', null, '', '{}' where 0;

create trigger owed_fire_insert instead of insert on owed_fire
begin
    select raise(abort, 'owed_fire: name must be 1 to 255 characters of A-Z a-z 0-9 _ . -')
    where typeof(new.name) <> 'text' or length(cast(new.name as blob)) not between 1 and 255
        or new.name glob '*[^A-Za-z0-9_.-]*' or instr(cast(new.name as blob), x'00') > 0;
    select raise(abort, 'owed_fire: payload must be JSON as text, not null, a number or a blob')
    where typeof(new.payload) <> 'text';
    select raise(abort, 'owed_fire: payload is over 16 MiB')
    where length(cast(new.payload as blob)) > 16777216;
    select raise(abort, 'owed_fire: payload holds a NUL character, which JSON writes as \u0000')
    where instr(cast(new.payload as blob), x'00') > 0;
    select raise(abort, 'owed_fire: payload is not valid JSON')
    where not json_valid(new.payload);
    select raise(abort, 'owed_fire: version must be a whole number from 1 to 32767')
    where new.version is not null
        and (typeof(new.version) <> 'integer' or new.version not between 1 and 32767);
    select raise(abort, 'owed_fire: dedupe_key must be text of at most 255 bytes')
    where typeof(new.dedupe_key) = 'blob' or length(cast(new.dedupe_key as blob)) > 255;
    select raise(abort, 'owed_fire: actor_key and actor_label must be text of at most 255 bytes')
    where typeof(new.actor_key) = 'blob' or length(cast(new.actor_key as blob)) > 255
        or typeof(new.actor_label) = 'blob' or length(cast(new.actor_label as blob)) > 255;
    select raise(abort,
        'owed_fire: correlation_id and traceparent must be text of at most 255 bytes')
    where typeof(new.correlation_id) = 'blob' or length(cast(new.correlation_id as blob)) > 255
        or typeof(new.traceparent) = 'blob' or length(cast(new.traceparent as blob)) > 255;
    select raise(abort,
        'owed_fire: due_at and occurred_at must be microseconds since 1970, whole, not negative')
    where (new.due_at is not null and (typeof(new.due_at) <> 'integer' or new.due_at < 0))
        or (new.occurred_at is not null
            and (typeof(new.occurred_at) <> 'integer' or new.occurred_at < 0));
    select raise(abort, 'owed_fire: causation_id must be the id of an event')
    where new.causation_id is not null and typeof(new.causation_id) <> 'integer';
    select raise(abort, 'owed_fire: scope must be a JSON object, as text')
    where new.scope is not null and case
        when typeof(new.scope) <> 'text' or instr(cast(new.scope as blob), x'00') > 0 then 1
        when not json_valid(new.scope) then 1
        else json_type(new.scope) <> 'object' end;

    select raise(abort, 'owed_fire: dedupe_key protects only as long as the event is kept, and one of this name goes when it is done')
    where coalesce(new.dedupe_key, '') <> '' and (
        select max(retention_seconds) is null and max(delete_when) <> ''
        from owed_event_type where name = new.name and removed_at = 0);

    insert into owed_event (uid, name, version, payload, dedupe_key, occurred_at, recorded_at, due_at,
        actor_key, actor_label, scope, correlation_id, causation_id, traceparent, retention_seconds,
        delete_when)
    select randomblob(16), new.name, coalesce(new.version, 1), new.payload,
        nullif(cast(new.dedupe_key as text), ''), coalesce(new.occurred_at, clock.now), clock.now,
        coalesce(new.due_at, clock.now), coalesce(new.actor_key, ''), coalesce(new.actor_label, ''),
        coalesce(new.scope, '{}'), coalesce(new.correlation_id, ''), new.causation_id,
        coalesce(new.traceparent, ''), kept.seconds, kept.when_done
    from (select unixepoch('now') * 1000000
        + cast(substr(strftime('%f', 'now'), 4) as integer) * 1000 as now) as clock
    cross join (
        select max(retention_seconds) as seconds,
            case when max(retention_seconds) is null then coalesce(max(delete_when), '') else '' end
                as when_done
        from owed_event_type where name = new.name and removed_at = 0) as kept
    where not exists (
        select 1 from owed_event where dedupe_key = nullif(cast(new.dedupe_key as text), ''));
end;
