-- Which ended rows can be owed again? Dead ones, and orphaned ones whose receiver is back.
-- Parameters: ids above this, how many, receiver key (empty: any), orphaned ones too (1 or 0), a text that the
-- error holds (empty: any), ended from when, until when.
-- Columns: id, event_id.
-- Index: owed_delivery_ended_badly_ids.
select d.id, d.event_id from owed_delivery as d indexed by owed_delivery_ended_badly_ids
where d.status in ('dead', 'orphaned') and d.id > $1 and ($3 = '' or d.receiver_key = $3)
and instr(d.last_error, $5) > 0 and d.completed_at >= $6 and d.completed_at < $7
and (d.status = 'dead' or ($4 = 1 and exists (
    select 1 from owed_receiver as r where r.key = d.receiver_key and r.removed_at = 0)))
order by d.id limit $2
