-- The table that receivers of a benchmark insert into, where they are to write anything.
create table owed_bench_effect (
    id bigint not null auto_increment primary key,
    delivery_id bigint not null
) engine = innodb
