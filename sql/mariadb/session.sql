-- What every connection of ours is set to when it opens (an adopted one is left as it is). A step from
-- lane to lane counts as a recursion, and there may be more lanes than the server's default allows; lists
-- of ids may be longer than it allows, too.
set session transaction isolation level read committed;
set session sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';
set session time_zone = '+00:00';
set session max_recursive_iterations = 4294967295;
set session group_concat_max_len = 67108864;
