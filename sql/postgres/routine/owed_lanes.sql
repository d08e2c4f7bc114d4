-- The lanes from one text up to another in which anything is owed, paused ones (lane, "!" and a
-- receiver's key) left out. Steps from lane to lane by index, however many rows they hold: from a lane
-- it seeks past all that begin with it and "!", since a lane's words have no sign that sorts before "-".
create or replace function owed_lanes(from_here text, up_to text)
returns setof text
language plpgsql stable
set enable_seqscan = off set enable_bitmapscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
declare
    lane text collate "C" := from_here;
    step text collate "C" := from_here;
begin
    loop
        select least(
            (select d.lane from owed_delivery as d
                where d.status in ('pending', 'failed') and d.lane >= step and d.lane < up_to
                order by d.lane limit 1),
            (select d.lane from owed_delivery as d
                where d.status = 'claimed' and d.lane >= step and d.lane < up_to
                order by d.lane limit 1)) into lane;
        exit when lane is null;
        if strpos(lane, '!') = 0 then
            return next lane;
        end if;
        -- The lane itself, then what lies behind its paused ones.
        step := split_part(lane, '!', 1) || '"';
    end loop;
end
$$;
