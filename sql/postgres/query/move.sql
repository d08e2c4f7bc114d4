-- Lets rows follow their receivers to the lane and kind that the catalogue says. The fence of a row that
-- somebody holds does not name the lane.
-- Parameters: a JSON array of ids.
-- Index: the primary keys.
update owed_delivery as d
set lane = r.stored_lane,
    kind = case when d.kind = 'expand' and r.targets = 'callback' then 'expand' else r.kind end
from owed_receiver as r
where r.key = d.receiver_key and d.id = any (array(
    select free.id from owed_delivery as free
    where free.id = any (translate($1::text, '[]', '{}')::bigint[])
    and free.status in ('pending', 'failed', 'claimed')
    order by free.id for no key update skip locked))
