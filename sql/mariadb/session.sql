-- What every connection of ours is set to when it opens (an adopted one is left as it is). A claim of
-- several lanes writes down what it has found as a list, which no server's default is to cut off.
-- What exists is looked up row by row: a table made of all there is, once, would read the whole history.
-- A server may begin sessions without autocommit: what commits by itself would be left open there.
set session autocommit = 1;
set session transaction isolation level read committed;
set session sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';
set session time_zone = '+00:00';
set session group_concat_max_len = 16777216;
/*M!100000 set session optimizer_switch = 'exists_to_in=off' */;
