-- Writes an event and one delivery for each durable receiver of its name, or of any ('*'); both or
-- neither, also where the caller has no transaction open. Is called by the procedures that fire.
--
-- A receiver that was removed gets events for ten minutes more. Receivers whose targets the firing side
-- cannot know get one row that a relay expands. The digest is that of no target (SHA-256 of nothing).
-- The retention that the catalogue has for its name is copied to it.
-- What is owed to a single receiver is written as the look at the catalogue told of it, which costs half. To several
-- it is inserted from the catalogue itself at READ COMMITTED. At other levels that statement would lock it until the
-- caller's transaction ends, so that it is read by a cursor there, which costs more.
-- own is a JSON array of receivers that the firing process declares (key, lane, kind, max_attempts, due in
-- microseconds after the event's): it is owed to them as well, where the catalogue does not have them.
--
-- A taken dedupe key writes nothing: is_new is then 0, and new_id the event that has it.
-- Where no transaction is open it has one of its own, which stays open where leaves_open is 1.
create or replace procedure owed_event_write(
    in new_uid binary(16),
    in new_name varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin,
    in new_version int,
    in new_payload longtext character set utf8mb4 collate utf8mb4_nopad_bin,
    in new_dedupe_key varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin,
    in new_occurred_at datetime(6),
    in new_recorded_at datetime(6),
    in new_due_at datetime(6),
    in new_actor_key varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin,
    in new_actor_label varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin,
    in new_scope mediumtext character set utf8mb4 collate utf8mb4_nopad_bin,
    in new_correlation_id varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin,
    in new_causation_id bigint,
    in new_traceparent varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin,
    in own mediumtext character set utf8mb4 collate utf8mb4_nopad_bin,
    in leaves_open int,
    out new_id bigint,
    out is_new int)
    modifies sql data
    sql security definer
begin
    declare owed_from datetime(6) default greatest(new_due_at, new_recorded_at);
    declare kept_seconds bigint default null;
    declare kept_when varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin default '';
    declare found, is_plain, own_known, its_attempts int default 0;
    declare its_key, its_lane varchar(400) character set utf8mb4 collate utf8mb4_nopad_bin default null;
    declare its_kind varchar(16) character set utf8mb4 collate utf8mb4_nopad_bin default null;
    declare its_available_at datetime(6) default null;
    declare owns_transaction int default (@@in_transaction = 0 and @@autocommit = 1);
    declare exit handler for sqlexception
    begin
        -- A deadlock has rolled back everything, the savepoint too.
        declare continue handler for 1305 begin end;
        if owns_transaction then
            rollback;
        else
            rollback to savepoint owed_event_write;
        end if;
        resignal;
    end;

    if owns_transaction then
        start transaction;
    else
        savepoint owed_event_write;
    end if;

    select max(retention_seconds), if(max(retention_seconds) is null, coalesce(max(delete_when), ''), '')
    into kept_seconds, kept_when
    from owed_event_type where name = new_name and removed_at = '1970-01-01 00:00:00';

    select count(*), coalesce(sum(instr(own, concat('"key":"', `key`, '"')) > 0), 0),
        max(mode <> 'durable' or targets <> 'none' or removed_at <> '1970-01-01 00:00:00') = 0,
        min(`key`), min(stored_lane), min(kind), min(max_attempts), owed_from + interval min(due) microsecond
    into found, own_known, is_plain, its_key, its_lane, its_kind, its_attempts, its_available_at
    from owed_receiver where event_name in (new_name, '*');

    set is_new = 1;
    begin
        declare continue handler for 1062 set is_new = 0;
        insert into owed_event (uid, name, version, payload, dedupe_key, occurred_at, recorded_at,
            due_at, actor_key, actor_label, scope, correlation_id, causation_id, traceparent,
            retention_seconds, delete_when)
        values (new_uid, new_name, new_version, new_payload, new_dedupe_key, new_occurred_at,
            new_recorded_at, new_due_at, new_actor_key, new_actor_label, new_scope,
            new_correlation_id, new_causation_id, new_traceparent, kept_seconds, kept_when);
    end;

    if is_new then
        set new_id = last_insert_id();
        if found = 1 and is_plain then
            insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
                available_at, due_at)
            values (new_id, its_key, x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
                its_lane, its_kind, its_attempts, its_available_at, its_available_at);
        elseif found > 0 and @@tx_isolation = 'READ-COMMITTED' then
            insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
                available_at, due_at)
            select new_id, `key`, x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
                stored_lane, if(targets = 'callback', 'expand', kind), max_attempts,
                owed_from + interval due microsecond, owed_from + interval due microsecond
            from owed_receiver
            where event_name in (new_name, '*') and mode = 'durable' and targets <> 'endpoints'
            and (removed_at = '1970-01-01 00:00:00'
                or removed_at > new_recorded_at - interval 10 minute);
        elseif found > 0 then
            for r in (
                select `key`, stored_lane, if(targets = 'callback', 'expand', kind) as kind, max_attempts,
                    owed_from + interval due microsecond as available_at
                from owed_receiver
                where event_name in (new_name, '*') and mode = 'durable' and targets <> 'endpoints'
                and (removed_at = '1970-01-01 00:00:00'
                    or removed_at > new_recorded_at - interval 10 minute))
            do
                insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
                    available_at, due_at)
                values (new_id, r.`key`,
                    x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', r.stored_lane,
                    r.kind, r.max_attempts, r.available_at, r.available_at);
            end for;
        end if;
        -- Who found something else than was looked at has to count.
        if own <> '[]' and found > 0 and (not is_plain or row_count() <> found) then
            set own_known = (select count(*) from owed_delivery
                where event_id = new_id and instr(own, concat('"key":"', receiver_key, '"')) > 0);
        end if;
        if own <> '[]' and json_length(own) > own_known then
            insert into owed_delivery (event_id, receiver_key, target_digest, lane, kind, max_attempts,
                available_at, due_at)
            select new_id, o.`key`, x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
                o.lane, o.kind, o.max_attempts, owed_from + interval o.due microsecond,
                owed_from + interval o.due microsecond
            from json_table(own, '$[*]' columns (
                `key` varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin path '$.key',
                lane varchar(400) character set utf8mb4 collate utf8mb4_nopad_bin path '$.lane',
                kind varchar(16) character set utf8mb4 collate utf8mb4_nopad_bin path '$.kind',
                max_attempts int path '$.max_attempts',
                due bigint path '$.due')) as o
            where not exists (select 1 from owed_delivery as d
                where d.event_id = new_id and d.receiver_key = o.`key`);
        end if;
        if found > 0 and not is_plain
            and exists (select 1 from owed_receiver where `key` = 'owed.webhooks' and targets = 'endpoints') then
            call owed_event_to_endpoints(new_id);
        end if;
    else
        select id into new_id from owed_event where dedupe_key = new_dedupe_key lock in share mode;
    end if;

    if owns_transaction and not leaves_open then
        commit;
    elseif not owns_transaction then
        release savepoint owed_event_write;
    end if;
end;
