-- Makes the open transaction impossible to commit: it fails, and is only good to be rolled back.
do $$
begin
    raise exception 'an inline receiver refused the change' using errcode = 'OWED1';
end
$$
