-- Firing from any client, inside its own transaction:
--   select owed_fire('shop.OrderPlaced', '{"order_id": 7}', dedupe_key => 'A-1042');
-- The event's id comes back; for a dedupe_key that is taken, the id of the event that has it, and
-- nothing is written. What is not fit to be delivered is refused with a sentence; the text is kept to
-- the byte. payload is text or json, not jsonb: that has changed the bytes by then.
--
-- It runs with the rights of who made the tables and a search path of its own: a role that may execute
-- it needs no right on any table. Nobody else may: grant it to who fires.

create or replace function owed_fire(name text, payload text, version integer default 1,
    dedupe_key text default null, due_at timestamptz default null, occurred_at timestamptz default null,
    actor_key text default '', actor_label text default '', correlation_id text default '',
    causation_id bigint default null, traceparent text default '', scope text default '{}')
returns bigint
language plpgsql security definer as $$
#variable_conflict use_column
declare
    now constant timestamptz := clock_timestamp();
    first constant timestamptz := '1970-01-01 00:00:00+00';
    last constant timestamptz := '9999-12-31 23:59:59.999999+00';
    dedupe constant text := nullif($4, '');
    refused text;
    document json;
    brackets text;
    event_id bigint;
begin
    refused := case
        when $1 is null or $1 !~ '^[A-Za-z0-9_.-]{1,255}$' then
            'name must be 1 to 255 characters of A-Z a-z 0-9 _ . -'
        when $2 is null then 'payload must be JSON, not null'
        when octet_length($2) > 16777216 then 'payload is over 16 MiB'
        when $3 not between 1 and 32767 then 'version must be a whole number from 1 to 32767'
        when octet_length($4) > 255 then 'dedupe_key must be text of at most 255 bytes'
        when $5 not between first and last or $6 not between first and last then
            'due_at and occurred_at must be moments from 1970 to 9999'
        when octet_length($7) > 255 or octet_length($8) > 255 then
            'actor_key and actor_label must be text of at most 255 bytes'
        when octet_length($9) > 255 or octet_length($11) > 255 then
            'correlation_id and traceparent must be text of at most 255 bytes'
        end;
    if refused is not null then
        raise exception 'owed_fire: %', refused using errcode = 'invalid_parameter_value';
    end if;

    begin
        document := $2;
        if $12 <> '{}' and json_typeof($12::json) <> 'object' then
            raise exception 'owed_fire: scope must be a JSON object, as text'
                using errcode = 'invalid_parameter_value';
        end if;
    exception
        when invalid_text_representation then
            raise exception 'owed_fire: % is not valid JSON',
                    case when document is null then 'payload' else 'scope' end
                using errcode = 'invalid_parameter_value';
        when statement_too_complex then
            raise exception 'owed_fire: payload is nested deeper than 512'
                using errcode = 'invalid_parameter_value';
    end;

    -- Counting what opens is cheap; only what opens often is looked at level by level.
    if octet_length($2) > 1024
        and length($2) - length(replace(replace($2, '[', ''), '{', '')) > 512 then
        brackets := regexp_replace(regexp_replace($2, '"(\\.|[^"\\])*"', '', 'g'), '[^][{}]', '', 'g');
        for level in 1..512 loop
            exit when brackets = '';
            brackets := regexp_replace(brackets, '\[\]|\{\}', '', 'g');
        end loop;
        if brackets <> '' then
            raise exception 'owed_fire: payload is nested deeper than 512'
                using errcode = 'invalid_parameter_value';
        end if;
    end if;

    if dedupe is not null and (
        select max(t.retention_seconds) is null and max(t.delete_when) <> ''
        from owed_event_type as t where t.name = $1 and t.removed_at = timestamptz 'epoch') then
        raise exception 'owed_fire: dedupe_key protects only as long as the event is kept, and one of this name goes when it is done'
            using errcode = 'invalid_parameter_value';
    end if;

    loop
        insert into owed_event (uid, name, version, payload, dedupe_key, occurred_at, recorded_at,
            due_at, actor_key, actor_label, scope, correlation_id, causation_id, traceparent,
            retention_seconds, delete_when)
        select uuid_send(gen_random_uuid()), $1, coalesce($3, 1), document, dedupe, coalesce($6, now),
            now, coalesce($5, now), coalesce($7, ''), coalesce($8, ''), coalesce($12, '{}'),
            coalesce($9, ''), $10, coalesce($11, ''), kept.seconds, kept.when_done
        from (
            select max(t.retention_seconds) as seconds,
                case when max(t.retention_seconds) is null then coalesce(max(t.delete_when), '') else '' end as when_done
            from owed_event_type as t where t.name = $1 and t.removed_at = timestamptz 'epoch') as kept
        on conflict (dedupe_key) do nothing
        returning id into event_id;
        exit when event_id is not null;
        -- Whoever had the key has committed by now; it may be pruned in between.
        select e.id into event_id from owed_event as e where e.dedupe_key = dedupe;
        exit when event_id is not null;
    end loop;
    return event_id;
end
$$;

create or replace function owed_fire(name text, payload json, version integer default 1,
    dedupe_key text default null, due_at timestamptz default null, occurred_at timestamptz default null,
    actor_key text default '', actor_label text default '', correlation_id text default '',
    causation_id bigint default null, traceparent text default '', scope json default '{}')
returns bigint
language plpgsql security definer as $$
begin
    return owed_fire($1, $2::text, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::text);
end
$$;

create or replace function owed_fire(name text, payload jsonb, version integer default 1,
    dedupe_key text default null, due_at timestamptz default null, occurred_at timestamptz default null,
    actor_key text default '', actor_label text default '', correlation_id text default '',
    causation_id bigint default null, traceparent text default '', scope jsonb default '{}')
returns bigint
language plpgsql as $$
begin
    raise exception 'owed_fire: payload must be text or json: jsonb does not keep a document''s bytes'
        using errcode = 'invalid_parameter_value', hint = 'Pass it as it was written, as text.';
end
$$;

do $$
declare
    door regprocedure;
begin
    for door in select p.oid from pg_proc as p
        where p.proname = 'owed_fire' and p.pronamespace = current_schema()::regnamespace
        and p.prosecdef loop
        execute format('alter function %s set search_path = pg_catalog, %I, pg_temp', door,
            current_schema());
        execute format('revoke execute on function %s from public', door);
    end loop;
end
$$;
