-- Announces what this transaction commits, if somebody waits for it: rows that are new, or free again (handed
-- back, requeued, in another lane). A notification costs all who commit their common write, so there is
-- none while every relay is at work.
--
-- Who is about to wait takes the second lock, shared with all who wait, and then tries the first alone:
-- it is free once everybody has committed who saw nobody waiting. So who writes takes the first,
-- shared, until he commits, and only then looks at the second. Both are in the number space of "owed".
create or replace function owed_announce() returns trigger
language plpgsql as $$
begin
    -- One if each: nothing promises that an "and" goes from left to right. None of them is a query.
    if pg_catalog.pg_try_advisory_xact_lock_shared(1870095716, 1) then
        if pg_catalog.pg_try_advisory_lock(1870095716, 2) then
            if pg_catalog.pg_advisory_unlock(1870095716, 2) then
                return null;
            end if;
        end if;
    end if;
    perform pg_catalog.pg_notify('owed', '');
    return null;
end
$$;
do $$
begin
    if not exists (select from pg_trigger
        where tgrelid = 'owed_delivery'::regclass and tgname = 'owed_announce_new') then
        create trigger owed_announce_new after insert on owed_delivery
        for each statement execute function owed_announce();
        create trigger owed_announce_freed after update on owed_delivery
        for each row when (
            new.status = 'claimed' and new.lease_expires_at = timestamptz 'epoch'
            or old.status in ('dead', 'orphaned') and new.status = 'pending'
            or old.lane <> new.lane)
        execute function owed_announce();
    end if;
end
$$;
