-- The same as owed_event_insert, and owes the event to receivers that the firing process declares. Where no
-- transaction is open, begins is 1 for one that the caller ends.
create or replace procedure owed_event_insert_own(
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
    in begins int)
    modifies sql data
    sql security definer
begin
    declare event_id bigint default null;
    declare is_new int default 0;

    call owed_event_write(new_uid, new_name, new_version, new_payload, new_dedupe_key,
        new_occurred_at, new_recorded_at, new_due_at, new_actor_key, new_actor_label, new_scope,
        new_correlation_id, new_causation_id, new_traceparent, own, begins, event_id, is_new);
    if is_new then
        select event_id as id;
    end if;
end;
