-- How long a statement that only reads may take, in milliseconds; there is no such limit for others.
-- Parameters: microseconds.
set session max_execution_time = cast(ceil($1 / 1000) as signed)
