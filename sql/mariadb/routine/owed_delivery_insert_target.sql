-- Owes an event to one target of a receiver, unless it already is, in the lane and kind that the
-- catalogue says where it knows the receiver. The catalogue is read by a statement of its own: within
-- the insert it would be locked until the caller's transaction ends.
create or replace procedure owed_delivery_insert_target(
    in new_event_id bigint,
    in new_receiver_key varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin,
    in new_target mediumtext character set utf8mb4 collate utf8mb4_nopad_bin,
    in new_target_digest binary(32),
    in declared_lane varchar(400) character set utf8mb4 collate utf8mb4_nopad_bin,
    in declared_kind varchar(16) character set utf8mb4 collate utf8mb4_nopad_bin,
    in new_max_attempts int,
    in new_available_at datetime(6),
    in new_due_at datetime(6))
    modifies sql data
    sql security definer
begin
    declare catalogue_lane varchar(400) character set utf8mb4 collate utf8mb4_nopad_bin default null;
    declare catalogue_kind varchar(16) character set utf8mb4 collate utf8mb4_nopad_bin default null;

    select max(case when locate(concat(r.app, '/+'), replace(declared_lane, '/!+', '/+')) <> 1 then r.stored_lane
        when r.paused_at > '1970-01-01 00:00:00' then replace(declared_lane, '/+', '/!+') else replace(declared_lane, '/!+', '/+') end), max(kind) into catalogue_lane, catalogue_kind
    from owed_receiver as r where `key` = new_receiver_key;

    insert into owed_delivery (event_id, receiver_key, target, target_digest, lane, kind, max_attempts,
        available_at, due_at)
    values (new_event_id, new_receiver_key, new_target, new_target_digest,
        coalesce(catalogue_lane, declared_lane), coalesce(catalogue_kind, declared_kind),
        new_max_attempts, new_available_at, new_due_at)
    on duplicate key update event_id = values(event_id);
end;
