-- From here on this session hears of commits, and of what is sent to it alone.
do $$
begin
    listen owed;
    execute format('listen %I', 'owed ' || pg_backend_pid());
end
$$
