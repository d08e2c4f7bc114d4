-- The table that receivers of a benchmark insert into, where they are to write anything.
create table owed_bench_effect (id integer primary key, delivery_id integer not null) strict
