-- Notifications that are sent once: who sends one just now, and what came of those that were sent.

create table owed_dedup (
    dedup_key text primary key,
    token text not null,
    receipt text not null default '',
    expires_at timestamptz not null
);
create index owed_dedup_by_end on owed_dedup (expires_at);
