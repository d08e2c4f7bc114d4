-- Events of a name, recorded in a while, by id.
-- Parameters: name, ids above this, how many, from when, until when.
-- Columns: id.
-- Index: owed_event_by_name.
select id from owed_event
where name = $1 and id > $2
and recorded_at >= $4 and recorded_at < $5
order by id limit $3
