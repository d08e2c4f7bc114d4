-- What every connection of ours is set to when it opens (an adopted one is left as it is).
set session transaction isolation level read committed;
set session sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';
set session time_zone = '+00:00';
