-- Lets rows follow their receivers to the lane and kind that the catalogue says. The fence of a row that
-- somebody holds does not name the lane.
-- Parameters: a JSON array of ids.
-- Index: the primary keys.
update owed_delivery
set (lane, kind) = (
    select r.stored_lane, case when owed_delivery.kind = 'expand' and r.targets = 'callback'
        then 'expand' else r.kind end
    from owed_receiver as r where r.key = owed_delivery.receiver_key)
where id in (select value from json_each($1)) and status in ('pending', 'failed', 'claimed')
and receiver_key in (select key from owed_receiver)
