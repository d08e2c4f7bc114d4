-- Notes a script as run.
-- Parameters: kind, name, version, checksum, when.
-- Index: the primary key.
insert into owed_schema (kind, name, version, checksum, applied_at)
values ($1::text, $2::text, $3::bigint, $4::text, $5::timestamptz)
on conflict (kind, name) do update
set version = excluded.version, checksum = excluded.checksum, applied_at = excluded.applied_at
