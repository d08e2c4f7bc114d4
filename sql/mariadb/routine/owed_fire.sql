-- Firing from any client, in the caller's transaction or, where none is open, in one of its own:
--   call owed_fire('shop.OrderPlaced', '{"order_id": 7}');
-- Afterwards @owed_event_id is the event's id.
create or replace procedure owed_fire(
    in name longtext character set utf8mb4 collate utf8mb4_nopad_bin,
    in payload longtext character set utf8mb4 collate utf8mb4_nopad_bin)
    modifies sql data
    sql security definer
begin
    call owed_fire_with(name, payload, '{}');
end;
