-- Transactions of this database that were prepared long ago and never ended: they hold the horizon and their locks.
-- Parameters: for how long (microseconds).
-- Columns: the transaction's name, the statement that ends it, for how long (microseconds), 0.
-- Index: none, it asks the server.
select gid, 'rollback prepared ' || quote_literal(gid),
    (extract(epoch from statement_timestamp() - prepared) * 1000000)::bigint, 0::bigint
from pg_prepared_xacts
where database = current_database() and prepared < statement_timestamp() - $1::bigint * interval '1 microsecond'
order by prepared
limit 5
