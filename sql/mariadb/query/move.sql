-- Lets rows follow their receivers to the lane and kind that the catalogue says. The fence of a row that
-- somebody holds does not name the lane. A row of a side lane ("app/+name") stays in it; while its receiver is
-- paused that one is "app/!+name".
-- Parameters: a JSON array of ids.
-- Index: the primary keys.
update json_table($1, '$[*]' columns (id bigint path '$')) as picked
straight_join owed_delivery as d on d.id = picked.id
straight_join owed_receiver as r on r.`key` = d.receiver_key
set d.lane = case when locate(concat(r.app, '/+'), replace(d.lane, '/!+', '/+')) <> 1 then r.stored_lane
        when r.paused_at > '1970-01-01 00:00:00' then replace(d.lane, '/+', '/!+') else replace(d.lane, '/!+', '/+') end,
    d.kind = if(d.kind = 'expand' and r.targets = 'callback', d.kind, r.kind)
where d.status in ('pending', 'failed', 'claimed')
