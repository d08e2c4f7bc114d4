-- Claims what is due in one lane, in the order of the queue, as owed_pick and owed_claim do, but rows and
-- their events are read once, while they are claimed. That is so while no lease is over there, nobody was
-- lost with any of the rows, and payloads have room: one that is longer than its share of the bytes comes back
-- as null, to be read by itself. Else those two do it. A row whose event is gone comes back with nulls for it,
-- and stays as it is.
--
-- The columns are those of before as far as somebody asks for them: claimed_at tells what it is now.
create or replace function owed_claim_lane(in_lane text, in_kind text, now timestamptz, most bigint,
    mark timestamptz, by_whom text, lease_until timestamptz, max_bytes bigint,
    most_lost bigint)
returns table (id bigint, status text, claimed_at timestamptz, lease_expires_at timestamptz,
    losses integer, event_id bigint, receiver_key text, target text, lane text, attempts integer,
    max_attempts integer, available_at timestamptz, due_at timestamptz, uid bytea, name text,
    version integer, payload json, occurred_at timestamptz, recorded_at timestamptz, actor_key text,
    actor_label text, scope text, correlation_id text, traceparent text)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_sort = off set jit = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    since constant timestamptz := coalesce(mark, '-infinity');
    lease_end constant timestamptz := case when mark is null then now
        else timestamptz 'epoch' + interval '1 microsecond' end;
    share constant bigint := $8 / greatest($4, 1);
    ids bigint[];
    worst integer;
    claimed bigint;
begin
    if share >= 16384 and not exists (
        select from owed_delivery as d
        where d.status = 'claimed' and d.lane = $1 and d.kind = $2 and d.lease_expires_at < lease_end) then
        select array_agg(p.id), max(p.losses) into ids, worst
        from (
            select d.id, d.losses from owed_delivery as d
            where d.status in ('pending', 'failed') and d.lane = $1 and d.kind = $2
            and d.available_at >= since and d.available_at <= $3
            order by d.available_at, d.id limit $4 for no key update skip locked) as p;
        if ids is null then
            return;
        end if;
    end if;
    if worst <= 0 then
        return query update owed_delivery as d
            set status = 'claimed', claimed_by = $6,
                claimed_at = greatest($3, d.claimed_at + interval '1 microsecond'),
                lease_expires_at = $7
            from unnest(ids) as picked (id), owed_event as e
            where d.id = picked.id and e.id = d.event_id
            returning d.id, 'pending'::text, d.claimed_at - interval '1 microsecond',
                timestamptz 'epoch', d.losses, d.event_id, d.receiver_key, d.target, d.lane,
                d.attempts, d.max_attempts, d.available_at, d.due_at, e.uid, e.name, e.version,
                case when octet_length(e.payload::text) <= share then e.payload end,
                e.occurred_at, e.recorded_at, e.actor_key, e.actor_label, e.scope,
                e.correlation_id, e.traceparent;
        get diagnostics claimed = row_count;
        if claimed = cardinality(ids) then
            return;
        end if;
        return query select * from owed_claim(array(
            select d.id from unnest(ids) as picked (id), owed_delivery as d
            where d.id = picked.id and not exists (
                select from owed_event as e where e.id = d.event_id)), $6, $3, $7, $8, $9);
        return;
    end if;
    return query select * from owed_claim(array(
        select owed_pick(array[$1], $2, $3, $4, null, null, $5)), $6, $3, $7, $8, $9);
end
$$;
