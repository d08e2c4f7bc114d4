-- Writes an event that is owed to nobody, and gives its id as a row; none where the dedupe key is taken.
create or replace procedure owed_event_insert_suppressed(
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
    in new_reason varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin)
    modifies sql data
    sql security definer
begin
    declare is_new int default 1;
    begin
        declare continue handler for 1062 set is_new = 0;
        insert into owed_event (uid, name, version, payload, dedupe_key, occurred_at, recorded_at,
            due_at, actor_key, actor_label, scope, correlation_id, causation_id, traceparent,
            suppressed_reason, retention_seconds, delete_when)
        select new_uid, new_name, new_version, new_payload, new_dedupe_key, new_occurred_at,
            new_recorded_at, new_due_at, new_actor_key, new_actor_label, new_scope,
            new_correlation_id, new_causation_id, new_traceparent, new_reason,
            max(retention_seconds),
            if(max(retention_seconds) is null, coalesce(max(delete_when), ''), '')
        from owed_event_type where name = new_name and removed_at = '1970-01-01 00:00:00';
    end;
    select last_insert_id() as id from (select 1) as one where is_new = 1;
end;
