-- How many transactions have ended on the server: everybody's.
-- Columns: transactions.
select cast(variable_value as signed) from information_schema.global_status
where variable_name = 'Handler_commit'
