-- The table that a bare loop writes its events to, with ids of its own.
create table owed_bench_event (
    id bigint not null primary key,
    name varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin not null,
    payload longtext character set utf8mb4 not null,
    fired_at datetime(6) not null
) engine = innodb
