-- What this user cannot see, and the grant with which he could.
-- Columns: what, the statement that grants it, 0, 0.
-- Index: none, it asks the server's catalogue.
select 'the transactions of other users', 'grant pg_read_all_stats to ' || quote_ident(current_user), 0::bigint, 0::bigint
where not pg_has_role(current_user, 'pg_read_all_stats', 'usage')
