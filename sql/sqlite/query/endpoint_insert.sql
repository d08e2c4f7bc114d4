-- A new endpoint.
-- Parameters: id, digest, name, url, tenant, format, signing, secret, filter, rate, created_at.
-- Index: the primary key.
insert into owed_endpoint (id, digest, name, url, tenant, format, signing, secret, filter, rate,
    created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9,
    $10, $11, $11)
