-- A new endpoint.
-- Parameters: id, digest, name, url, tenant, format, signing, secret, filter, rate, created_at.
-- Index: the primary key.
insert into owed_endpoint (id, digest, name, url, tenant, format, signing, secret, filter, rate,
    created_at, updated_at)
values ($1::text, $2::bytea, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text,
    $10::bigint, $11::timestamptz, $11::timestamptz)
