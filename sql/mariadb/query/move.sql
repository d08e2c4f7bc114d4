-- Lets rows follow their receivers to the lane and kind that the catalogue says. The fence of a row that
-- somebody holds does not name the lane.
-- Parameters: a JSON array of ids.
-- Index: the primary keys.
update json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_delivery as d on d.id = picked.id
straight_join owed_receiver as r on r.`key` = d.receiver_key
set d.lane = r.stored_lane,
    d.kind = if(d.kind = 'expand' and r.targets = 'callback', d.kind, r.kind)
where d.status in ('pending', 'failed', 'claimed')
