-- Publishes a receiver; changes nothing where nothing differs, or where a newer release declared it.
-- Parameters: key, app, event_name, mode, site, kind, lane, max_attempts, backoff_base, backoff_cap,
-- lease, timeout, database_only, options, release, published_at, due, give_up_after, pause,
-- targets, eager.
-- Index: the primary key.
insert into owed_receiver (`key`, app, event_name, mode, site, kind, lane, max_attempts, backoff_base,
    backoff_cap, lease, timeout, database_only, options, `release`, published_at, due, give_up_after,
    pause, targets, eager)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21
from (select 1) as one
where not exists (
    select 1 from owed_receiver as r
    where r.`key` = $1
    and (($15 <> 0 and $15 < r.`release`)
        or (r.removed_at = '1970-01-01 00:00:00' and $15 <= r.`release`
            and r.app = $2 and r.event_name = $3 and r.mode = $4 and r.site = $5 and r.kind = $6
            and r.lane = $7 and r.max_attempts = $8 and r.backoff_base = $9 and r.backoff_cap = $10
            and r.lease = $11 and r.timeout = $12 and r.database_only = $13 and r.options = $14
            and r.due = $17 and r.give_up_after = $18 and r.pause = $19 and r.targets = $20
            and r.eager = $21)))
on duplicate key update app = values(app), event_name = values(event_name), mode = values(mode),
    site = values(site), kind = values(kind), lane = values(lane),
    max_attempts = values(max_attempts), backoff_base = values(backoff_base),
    backoff_cap = values(backoff_cap), lease = values(lease), timeout = values(timeout),
    database_only = values(database_only), options = values(options), due = values(due),
    give_up_after = values(give_up_after), pause = values(pause), targets = values(targets),
    eager = values(eager), `release` = greatest(owed_receiver.`release`, values(`release`)),
    published_at = values(published_at), removed_at = '1970-01-01 00:00:00'
