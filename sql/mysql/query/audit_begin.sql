-- Notes that an operator begins something. A procedure, since an insert answers with nothing here.
-- Parameters: when, who, what is done, to what.
-- Columns: the new id.
-- Index: none.
call owed_audit_begin($1, $2, $3, $4)
