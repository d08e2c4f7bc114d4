-- A text or a whole number that stands in a scope under a key; null where there is none, or where it cannot be read.
create or replace function owed_scope_member(scope text, key text) returns text
language plpgsql immutable as $$
begin
    return case json_typeof(scope::json -> key) when 'string' then nullif(scope::json ->> key, '')
        when 'number' then substring(scope::json ->> key from '^-?[0-9]+$') end;
exception when others then
    return null;
end
$$;
