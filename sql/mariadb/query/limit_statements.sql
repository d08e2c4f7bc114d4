-- How long a statement may take.
-- Parameters: microseconds.
set session max_statement_time = $1 / 1000000
