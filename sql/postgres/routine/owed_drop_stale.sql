-- Drops what an earlier release made under the name of one of these routines with other parameters, and returns how
-- many: of routines that this transaction has just made anew, those beside them that it has not. What belongs to somebody
-- else, what an extension holds and what anything depends on stays.
create or replace function owed_drop_stale(routines text)
returns bigint language plpgsql as $$
declare
    stale regprocedure;
    dropped bigint := 0;
begin
    for stale in
        select p.oid from pg_proc as p
        where p.proname in (select json_array_elements_text(routines::json))
        and p.pronamespace = (select c.relnamespace from pg_class as c where c.oid = 'owed_schema'::regclass)
        and age(p.xmin) > 0
        and pg_has_role(p.proowner, 'usage')
        and exists (
            select from pg_proc as made
            where made.proname = p.proname and made.pronamespace = p.pronamespace and age(made.xmin) <= 0)
        and not exists (
            select from pg_depend as d
            where d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid
            or d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
    loop
        execute format('drop routine %s', stale);
        dropped := dropped + 1;
    end loop;
    return dropped;
end
$$;
