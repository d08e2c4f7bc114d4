-- Puts back what an application may have set on the session that it was lent. Only names that no search
-- path changes.
do $$
begin
    reset session authorization;
    reset role;
    reset all;
    unlisten *;
    perform pg_catalog.pg_advisory_unlock_all();
    set client_min_messages = warning;
    set default_transaction_isolation = 'read committed';
    set client_connection_check_interval = '500ms';
end
$$
