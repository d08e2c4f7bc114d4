-- What became of the newest events that a receiver wants, as far back as one looks.
-- Parameters: receiver key, event name (*: any), how many events, the success that is known (not yet: none).
-- Columns: the last success, also a known one (not yet: none); how many events were owed to it that were recorded since;
-- recorded_at of the newest of these (not yet: none).
-- Index: owed_event_by_name, the primary key of events, and for each event owed_delivery by (event_id, receiver_key).
with newest as (
    select id, recorded_at from (
        select id, recorded_at from owed_event
        where name = $2::text order by id desc limit $3::bigint
    ) as of_name
    union all
    select id, recorded_at from (
        select id, recorded_at from owed_event
        where $2::text = '*' order by id desc limit $3::bigint
    ) as of_any
),
wanted as (
    select n.id, max(n.recorded_at) as recorded_at, max(d.succeeded_at) as succeeded_at
    from newest as n join owed_delivery as d on d.event_id = n.id and d.receiver_key = $1::text
    group by n.id
),
known as (
    select greatest(coalesce(max(succeeded_at), timestamptz 'epoch'), $4::timestamptz) as last_at from wanted
)
select known.last_at, count(wanted.id), coalesce(max(wanted.recorded_at), timestamptz 'epoch')
from known left join wanted on wanted.recorded_at > known.last_at
group by known.last_at
