-- The table that a bare loop writes its deliveries to, claims them in, and acknowledges them in.
create table owed_bench_delivery (
    id bigint not null auto_increment primary key,
    event_id bigint not null,
    receiver_key varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin not null,
    status varchar(16) character set ascii not null default 'pending',
    available_at datetime(6) not null,
    claimed_at datetime(6) not null default '1970-01-01',
    completed_at datetime(6) not null default '1970-01-01',
    key owed_bench_delivery_owed (status, available_at)
) engine = innodb
