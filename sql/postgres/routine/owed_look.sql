-- What a firing process asks about what it has just written, or has not.

-- Who has this dedupe key?
create or replace function owed_event_by_dedupe(dedupe_key text)
returns setof bigint
language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query select e.id from owed_event as e where e.dedupe_key = $1;
end
$$;

-- Is this very event there? A row, or none.
create or replace function owed_event_exists(id bigint, uid bytea)
returns setof integer
language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query select 1 from owed_event as e where e.id = $1 and e.uid = $2;
end
$$;

-- Is the event owed to this receiver, without a target? A row, or none.
create or replace function owed_delivery_exists(event_id bigint, receiver_key text)
returns setof integer
language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query select 1 from owed_delivery as d
        where d.event_id = $1 and d.receiver_key = $2
        and d.target_digest = '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
end
$$;

-- Takes back what the trigger wrote for a receiver whose targets the firing process names itself.
create or replace function owed_delete_blank(event_id bigint, receiver_key text)
returns setof bigint
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
begin
    return query delete from owed_delivery as d
        where d.event_id = $1 and d.receiver_key = $2
        and d.target_digest = '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
        returning d.id;
end
$$;
