-- Does the queue of notices fill up? Somebody listens, and never ends the transaction in which he is.
-- Parameters: from what part of it on, in percent.
-- Columns: the process that has idled in a transaction for longest, who it is, percent in use, 0.
-- Index: none, it asks the server's statistics.
select coalesce(idler.pid::text, '0'), coalesce(idler.who, 'nobody that this user can see'),
    (pg_notification_queue_usage() * 100)::bigint, 0::bigint
from (values (0)) as one
left join (
    select pid, concat_ws(', ', nullif(application_name, ''), 'user ' || usename, state) as who
    from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'
    order by xact_start limit 1
) as idler on true
where pg_notification_queue_usage() * 100 >= $1::bigint
