-- Notes a script as run.
-- Parameters: kind, name, version, checksum, when.
-- Index: the primary key.
insert into owed_schema (kind, name, version, checksum, applied_at)
values ($1, $2, $3, $4, $5)
on duplicate key update version = values(version), checksum = values(checksum),
    applied_at = values(applied_at)
