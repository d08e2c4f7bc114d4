-- What is owed to some receivers, with its payload, by id.
-- Parameters: ids above this, how many, a JSON array of receiver keys.
-- Columns: id, receiver_key, event's name, version, payload.
-- Index: the primary keys.
select d.id, d.receiver_key, e.name, e.version, e.payload
from owed_delivery as d join owed_event as e on e.id = d.event_id
where d.id > $1::bigint and d.status || '' in ('pending', 'failed', 'claimed')
and d.receiver_key || '' = any (array(select json_array_elements_text($3::json)))
order by d.id limit $2::bigint
