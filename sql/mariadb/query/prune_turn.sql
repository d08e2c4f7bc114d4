-- Takes the turn to delete what is old, which one connection of a database has at a time, and waits for nobody: each
-- commit of one who deletes is one more that those who fire wait for. Whoever has it and has asked for nothing for so
-- long is stuck, and keeps nobody from it.
-- Parameters: how many seconds that is.
-- Columns: 1: go on; 0: another one does.
-- Index: none.
select case
    when is_used_lock(concat('owed_prune.', md5(database()))) <=> connection_id() then 1
    when get_lock(concat('owed_prune.', md5(database())), 0) = 1 then 1
    else (select count(*) from information_schema.processlist
        where id = is_used_lock(concat('owed_prune.', md5(database()))) and command = 'Sleep' and time >= $1) end
