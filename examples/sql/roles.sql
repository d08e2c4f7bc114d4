-- psql -v producer=shop_producer -f roles.sql: a role that may fire, and do nothing else. Run it as the
-- owner of the tables, with their schema first on the search path.
create role :producer login;
select format('grant usage on schema %I to %I', current_schema(), :'producer') \gexec
select format('grant execute on function %s to %I', oid::regprocedure, :'producer')
from pg_proc
where proname = 'owed_fire' and pronamespace = current_schema()::regnamespace and prosecdef \gexec
