-- Says that this transaction, which fires one event and does nothing else, writes what is owed for it
-- itself: what owes events for everybody then has nothing to do. Always true.
create or replace function owed_owes_itself() returns boolean
language sql as $$
    select set_config('owed.owes_itself', 'yes', true) is not null
$$;
