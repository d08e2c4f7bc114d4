-- How far the server's log has come, in bytes: everybody's writes.
-- Columns: bytes.
select cast(variable_value as signed) from performance_schema.global_status
where variable_name = 'INNODB_OS_LOG_WRITTEN'
