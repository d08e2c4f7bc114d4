-- Firing with options, a JSON object; each may be left out or null:
--   call owed_fire_with('shop.OrderPlaced', '{"order_id": 7}', '{"dedupe_key": "A-1042"}');
-- version is a whole number; dedupe_key, actor_key, actor_label, correlation_id and traceparent are
-- texts; due_at and occurred_at texts too, UTC, such as 2030-01-31 09:30:00.25 or 2030-01-31T09:30:00Z;
-- causation_id is an event's id; scope a JSON object.
--
-- Afterwards @owed_event_id is the event's id, and @owed_event_is_new 1, or 0 where another event has the
-- dedupe key already: that one's id is given, and nothing was written. No result set: nothing has to be
-- fetched. What is not fit to be delivered is refused before anything is written, and says why. The text
-- is kept to the byte.
create or replace procedure owed_fire_with(
    in name longtext character set utf8mb4 collate utf8mb4_nopad_bin,
    in payload longtext character set utf8mb4 collate utf8mb4_nopad_bin,
    in options longtext character set utf8mb4 collate utf8mb4_nopad_bin)
    modifies sql data
    sql security definer
begin
    declare said varchar(512) character set utf8mb4 collate utf8mb4_nopad_bin default null;
    declare fired_at datetime(6) default utc_timestamp(6);
    declare version_text, dedupe_key, actor_key, actor_label, correlation_id, traceparent,
        due_at_text, occurred_at_text, causation_text, event_scope
        longtext character set utf8mb4 collate utf8mb4_nopad_bin default null;
    declare wrong_option varchar(80) character set utf8mb4 collate utf8mb4_nopad_bin default null;
    declare due_at, occurred_at datetime(6) default null;
    declare moment_pattern varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin default
        '^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?Z?$';

    set options = coalesce(options, '{}');
    set said = case
        when name is null or octet_length(name) not between 1 and 255
            or name regexp '[^A-Za-z0-9_.-]'
            then 'owed_fire: name must be 1 to 255 characters of A-Z a-z 0-9 _ . -'
        when payload is null
            then 'owed_fire: payload must be JSON as text, not null'
        when octet_length(payload) > 16777216
            then 'owed_fire: payload is over 16 MiB'
        when instr(payload, char(0)) > 0
            then 'owed_fire: payload holds a NUL character, which JSON writes as an escape'
        when not json_valid(payload)
            then 'owed_fire: payload is not valid JSON'
        when not json_valid(options) or json_type(options) <> 'OBJECT'
            then 'owed_fire_with: options must be a JSON object'
        end;
    if said is not null then
        signal sqlstate '45000' set message_text = said;
    end if;

    if options <> '{}' then
        select min(given.name) into wrong_option
        from json_table(json_keys(options), '$[*]' columns (
            name varchar(80) character set utf8mb4 collate utf8mb4_nopad_bin path '$')) as given
        where given.name not in ('version', 'dedupe_key', 'due_at', 'occurred_at', 'actor_key',
            'actor_label', 'correlation_id', 'causation_id', 'traceparent', 'scope');
        if wrong_option is not null then
            set said = concat('owed_fire_with: unknown option "', left(wrong_option, 80), '"');
            signal sqlstate '45000' set message_text = said;
        end if;

        select min(given.name) into wrong_option
        from json_table('["dedupe_key", "actor_key", "actor_label", "correlation_id", "traceparent",
            "due_at", "occurred_at"]', '$[*]' columns (
            name varchar(80) character set utf8mb4 collate utf8mb4_nopad_bin path '$')) as given
        where json_type(json_extract(options, concat('$.', given.name))) not in ('STRING', 'NULL')
        or octet_length(json_unquote(json_extract(options, concat('$.', given.name)))) > 255;
        if wrong_option is not null then
            set said = concat('owed_fire_with: ', wrong_option, ' must be text of at most 255 bytes');
            signal sqlstate '45000' set message_text = said;
        end if;

        set version_text = nullif(cast(json_extract(options, '$.version') as char), 'null');
        set causation_text = nullif(cast(json_extract(options, '$.causation_id') as char), 'null');
        set event_scope = nullif(cast(json_extract(options, '$.scope') as char), 'null');
        set dedupe_key = json_value(options, '$.dedupe_key');
        set actor_key = json_value(options, '$.actor_key');
        set actor_label = json_value(options, '$.actor_label');
        set correlation_id = json_value(options, '$.correlation_id');
        set traceparent = json_value(options, '$.traceparent');
        set due_at_text = json_value(options, '$.due_at');
        set occurred_at_text = json_value(options, '$.occurred_at');
        set said = case
            when version_text not regexp '^[0-9]{1,5}$' or version_text not between 1 and 32767
                then 'owed_fire_with: version must be a whole number from 1 to 32767'
            when causation_text not regexp '^[0-9]{1,18}$'
                then 'owed_fire_with: causation_id must be the id of an event'
            when due_at_text not regexp moment_pattern
                then 'owed_fire_with: due_at must be UTC, such as 2030-01-31 09:30:00'
            when occurred_at_text not regexp moment_pattern
                then 'owed_fire_with: occurred_at must be UTC, such as 2030-01-31 09:30:00'
            when json_type(event_scope) <> 'OBJECT'
                then 'owed_fire_with: scope must be a JSON object'
            when octet_length(event_scope) > 65536
                then 'owed_fire_with: scope is over 64 KiB'
            end;
        if said is null then
            begin
                declare continue handler for 1292 begin end;
                set due_at = cast(replace(replace(due_at_text, 'T', ' '), 'Z', '') as datetime(6));
                set occurred_at = cast(replace(replace(occurred_at_text, 'T', ' '), 'Z', '') as datetime(6));
            end;
            set said = case
                when due_at_text is not null and due_at is null
                    then 'owed_fire_with: due_at is not a moment that exists'
                when occurred_at_text is not null and occurred_at is null
                    then 'owed_fire_with: occurred_at is not a moment that exists'
                end;
        end if;
        if said is not null then
            signal sqlstate '45000' set message_text = said;
        end if;
    end if;

    if coalesce(dedupe_key, '') <> '' and (
        select max(t.retention_seconds) is null and max(t.delete_when) <> ''
        from owed_event_type as t where t.name = name and t.removed_at = '1970-01-01 00:00:00') then
        signal sqlstate '45000' set message_text =
            'owed_fire_with: dedupe_key protects only as long as the event is kept, and one of this name goes when it is done';
    end if;

    call owed_event_write(random_bytes(16), name, coalesce(version_text, 1), payload,
        nullif(dedupe_key, ''), coalesce(occurred_at, fired_at), fired_at, coalesce(due_at, fired_at),
        coalesce(actor_key, ''), coalesce(actor_label, ''), coalesce(event_scope, '{}'),
        coalesce(correlation_id, ''), causation_text, coalesce(traceparent, ''), '[]', 0,
        @owed_event_id, @owed_event_is_new);
end;
