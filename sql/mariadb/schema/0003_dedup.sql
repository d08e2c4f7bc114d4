-- Notifications that are sent once: who sends one just now, and what came of those that were sent.

create table if not exists owed_dedup (
    dedup_key varchar(255) not null primary key,
    token varchar(64) not null,
    receipt mediumtext not null default '',
    expires_at datetime(6) not null,
    key owed_dedup_by_end (expires_at)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;
