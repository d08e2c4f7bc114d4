-- What this user cannot see, and the grant with which he could.
-- Columns: what, the statement that grants it, 0, 0.
-- Index: none, it asks the server.
select 'the transactions and connections of other users',
    concat('grant process on *.* to ''', replace(current_user(), '@', '''@'''), ''''), 0, 0
from (select 1 as one) as once
where not exists (select 1 from information_schema.user_privileges as u
    where u.grantee = concat('''', replace(current_user(), '@', '''@'''), '''') and u.privilege_type = 'PROCESS')
