-- Notes that an operator begins something, and answers with its id.
create or replace procedure owed_audit_begin(
    in new_began_at datetime(6),
    in new_who varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin,
    in new_action varchar(64) character set utf8mb4 collate utf8mb4_nopad_bin,
    in new_what mediumtext character set utf8mb4 collate utf8mb4_nopad_bin)
    modifies sql data
    sql security invoker
begin
    insert into owed_audit (began_at, who, action, what)
    values (new_began_at, new_who, new_action, new_what);
    select last_insert_id() as id;
end;
