-- Which ended rows can be owed again? Dead ones, and orphaned ones whose receiver is back.
-- Parameters: ids above this, how many, receiver key (empty: any), orphaned ones too (1 or 0), a text that the
-- error holds (empty: any), ended from when, until when.
-- Columns: id, event_id.
-- Index: owed_delivery_ended_badly, the catalogue's primary key for each row: asked whether one exists, the server would
-- read the whole catalogue first.
select id, event_id from (
    (select d.id, d.event_id from owed_delivery as d force index (owed_delivery_ended_badly)
        where d.ended_badly = 'dead' and d.id > $1 and ($3 = '' or d.receiver_key = $3)
        and instr(d.last_error, $5) > 0 and d.completed_at >= $6 and d.completed_at < $7
        order by d.id limit $2)
    union all
    (select d.id, d.event_id from owed_delivery as d force index (owed_delivery_ended_badly)
        where d.ended_badly = 'orphaned' and d.id > $1 and ($3 = '' or d.receiver_key = $3)
        and instr(d.last_error, $5) > 0 and d.completed_at >= $6 and d.completed_at < $7
        and $4 = 1 and (
            select r.removed_at from owed_receiver as r
            where r.`key` = d.receiver_key) = '1970-01-01 00:00:00'
        order by d.id limit $2)
) as picked
order by id limit $2
