-- How far the server's log has come, in bytes: everybody's writes.
-- Columns: bytes.
select cast(variable_value as signed) from information_schema.global_status
where variable_name = 'Innodb_os_log_written'
