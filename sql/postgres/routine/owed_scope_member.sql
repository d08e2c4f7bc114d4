-- A text or a number that stands in a scope under a key; null where there is none, or where it cannot be read.
create or replace function owed_scope_member(scope text, key text) returns text
language plpgsql immutable as $$
begin
    return case when json_typeof(scope::json -> key) in ('string', 'number')
        then nullif(scope::json ->> key, '') end;
exception when others then
    return null;
end
$$;
