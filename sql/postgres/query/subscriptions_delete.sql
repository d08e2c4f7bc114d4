-- Forgets what an endpoint wanted.
-- Parameters: endpoint id.
-- Index: the primary key.
delete from owed_subscription where endpoint_id = $1::text
