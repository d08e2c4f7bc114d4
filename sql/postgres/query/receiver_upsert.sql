-- Publishes a receiver; changes nothing where nothing differs, or where a newer release declared it.
-- Parameters: key, app, event_name, mode, site, kind, lane, max_attempts, backoff_base, backoff_cap,
-- lease, timeout, database_only, options, release, published_at, due, give_up_after, pause,
-- targets, eager.
-- Index: the primary key.
insert into owed_receiver (key, app, event_name, mode, site, kind, lane, max_attempts, backoff_base,
    backoff_cap, lease, timeout, database_only, options, release, published_at, due, give_up_after,
    pause, targets, eager)
values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::bigint, $9::bigint,
    $10::bigint, $11::bigint, $12::bigint, $13::bigint <> 0, $14::text, $15::bigint, $16::timestamptz,
    $17::bigint, $18::bigint, $19::text, $20::text, $21::bigint <> 0)
on conflict (key) do update
set app = excluded.app, event_name = excluded.event_name, mode = excluded.mode,
    site = excluded.site, kind = excluded.kind, lane = excluded.lane,
    max_attempts = excluded.max_attempts, backoff_base = excluded.backoff_base,
    backoff_cap = excluded.backoff_cap, lease = excluded.lease, timeout = excluded.timeout,
    database_only = excluded.database_only, options = excluded.options, due = excluded.due,
    give_up_after = excluded.give_up_after, pause = excluded.pause,
    targets = excluded.targets, eager = excluded.eager,
    release = greatest(owed_receiver.release, excluded.release),
    published_at = excluded.published_at, removed_at = timestamptz 'epoch'
where (excluded.release = 0 or excluded.release >= owed_receiver.release)
and (owed_receiver.removed_at <> timestamptz 'epoch' or excluded.release > owed_receiver.release
    or (owed_receiver.app, owed_receiver.event_name, owed_receiver.mode, owed_receiver.site,
        owed_receiver.kind, owed_receiver.lane, owed_receiver.max_attempts,
        owed_receiver.backoff_base, owed_receiver.backoff_cap, owed_receiver.lease,
        owed_receiver.timeout, owed_receiver.database_only, owed_receiver.options,
        owed_receiver.due, owed_receiver.give_up_after, owed_receiver.pause,
        owed_receiver.targets, owed_receiver.eager)
    is distinct from (excluded.app, excluded.event_name, excluded.mode, excluded.site, excluded.kind,
        excluded.lane, excluded.max_attempts, excluded.backoff_base, excluded.backoff_cap,
        excluded.lease, excluded.timeout, excluded.database_only, excluded.options, excluded.due,
        excluded.give_up_after, excluded.pause, excluded.targets, excluded.eager))
