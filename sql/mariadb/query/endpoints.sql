-- Endpoints by id, a page.
-- Parameters: after which id, how many, the tenant or null: any.
-- Columns: id, name, url, tenant, format, signing, secret, previous_secret, previous_until, filter, rate,
-- dead_in_row, disabled_at, disabled_reason, paused_at, paused_until, paused_reason, created_at, updated_at, its
-- subscriptions as a JSON array.
-- Index: the primary key.
select e.id, e.name, e.url, e.tenant, e.format, e.signing, e.secret, e.previous_secret,
    e.previous_until, e.filter, e.rate, e.dead_in_row, e.disabled_at, e.disabled_reason,
    e.paused_at, e.paused_until, e.paused_reason, e.created_at, e.updated_at,
    (select coalesce(concat('[', group_concat(json_quote(s.event_name) order by s.event_name), ']'), '[]')
        from owed_subscription as s where s.endpoint_id = e.id)
from owed_endpoint as e
where e.id > $1 and ($3 is null or e.tenant = $3)
order by e.id
limit $2
