-- Lets rows follow their receivers to the lane and kind that the catalogue says. The fence of a row that
-- somebody holds does not name the lane. A row of a side lane ("app/+name") stays in it; while its receiver is
-- paused that one is "app/!+name".
-- Parameters: a JSON array of ids.
-- Index: the primary keys.
update owed_delivery
set (lane, kind) = (
    select case when instr(replace(owed_delivery.lane, '/!+', '/+'), r.app || '/+') <> 1 then r.stored_lane
        when r.paused_at > 0 then replace(owed_delivery.lane, '/+', '/!+') else replace(owed_delivery.lane, '/!+', '/+') end,
        case when owed_delivery.kind = 'expand' and r.targets = 'callback'
        then 'expand' else r.kind end
    from owed_receiver as r where r.key = owed_delivery.receiver_key)
where id in (select value from json_each($1)) and status in ('pending', 'failed', 'claimed')
and receiver_key in (select key from owed_receiver)
