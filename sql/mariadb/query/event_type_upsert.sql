-- Publishes an event type; changes nothing where nothing differs, or where a newer release declared it.
-- Parameters: name, app, version, fields, release, published_at, retention in seconds or null, when it
-- goes ('succeeded', 'settled', or empty).
-- Index: the primary key.
insert into owed_event_type (name, app, version, fields, `release`, published_at, retention_seconds,
    delete_when)
select $1, $2, $3, $4, $5, $6, $7, $8
from (select 1) as one
where not exists (
    select 1 from owed_event_type as t
    where t.name = $1 and t.app = $2
    and (($5 <> 0 and $5 < t.`release`)
        or (t.removed_at = '1970-01-01 00:00:00' and $5 <= t.`release` and t.version = $3
            and t.fields = $4 and t.retention_seconds <=> $7 and t.delete_when = $8)))
on duplicate key update version = values(version), fields = values(fields),
    retention_seconds = values(retention_seconds), delete_when = values(delete_when),
    `release` = greatest(owed_event_type.`release`, values(`release`)),
    published_at = values(published_at), removed_at = '1970-01-01 00:00:00'
